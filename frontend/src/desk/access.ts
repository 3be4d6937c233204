import { inSessionStorage } from "../shared/storage";

const KEY = "token";
const storage = inSessionStorage("candor:desk:");

/**
 * The researcher's token: from the address' fragment, which is then cleared so that the token is not
 * copied along with the address; else what this tab kept.
 */
export function rememberedToken(): string | null {
  const given = new URLSearchParams(window.location.hash.slice(1)).get("token");
  if (given) {
    history.replaceState(history.state, "", window.location.pathname + window.location.search);
    keepToken(given);
    return given;
  }
  return storage.get<string>(KEY);
}

export function keepToken(token: string): void {
  storage.set(KEY, token);
}

export function forgetToken(): void {
  storage.remove(KEY);
}

import { passing } from "../storage";

const KEY = "token";
const shelf = passing("candor:desk:");

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
  return shelf.get<string>(KEY);
}

export function keepToken(token: string): void {
  shelf.set(KEY, token);
}

export function forgetToken(): void {
  shelf.remove(KEY);
}

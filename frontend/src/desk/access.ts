import { inSessionStorage } from "../shared/storage";

const KEY = "token";
const storage = inSessionStorage("candor:desk:");

/**
 * What the address brings along behind its `#`: a token, the secret of a one-time link, or why a sign-in with the
 * OpenID provider was refused.
 */
export interface Brought {
  token: string | null;
  link: string | null;
  refused: string | null;
}

/** Return what the address brings, and clear it there, so that it is not copied along with the address. */
export function brought(): Brought {
  const fragment = new URLSearchParams(window.location.hash.slice(1));
  const found = {
    token: fragment.get("token"),
    link: fragment.get("link"),
    refused: fragment.get("refused"),
  };
  if (found.token || found.link || found.refused) {
    history.replaceState(history.state, "", window.location.pathname + window.location.search);
  }
  return found;
}

/** The token that this tab keeps; empty where the browser is to show its sign-in. */
export function keptToken(): string {
  return storage.get<string>(KEY) ?? "";
}

export function keepToken(token: string): void {
  storage.set(KEY, token);
}

export function forgetToken(): void {
  storage.remove(KEY);
}

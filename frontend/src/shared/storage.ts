import { browserStorage, type WebStorage } from "./browser";

/**
 * JSON values under one prefix of a Web Storage. A browser that refuses storage (private mode, full disk)
 * makes the page forgetful, never broken.
 */
export class PrefixedStorage {
  readonly #store: WebStorage | null;
  readonly #prefix: string;

  constructor(store: WebStorage | null, prefix: string) {
    this.#store = store;
    this.#prefix = prefix;
  }

  get<T>(key: string): T | null {
    try {
      const text = this.#store?.getItem(this.#prefix + key);
      return text ? (JSON.parse(text) as T) : null;
    } catch {
      return null;
    }
  }

  /** Keep a value; returns whether it is kept. Where it is not, what is on the screen stays there. */
  set(key: string, value: unknown): boolean {
    try {
      this.#store?.setItem(this.#prefix + key, JSON.stringify(value));
      return this.#store !== null;
    } catch {
      return false;
    }
  }

  remove(key: string): void {
    try {
      this.#store?.removeItem(this.#prefix + key);
    } catch {
      // Where nothing is kept, nothing need be removed.
    }
  }

  /** Return the keys under the prefix. */
  keys(): string[] {
    try {
      const store = this.#store;
      const all = Array.from({ length: store?.length ?? 0 }, (_, index) => store?.key(index) ?? "");
      return all.filter((key) => key.startsWith(this.#prefix)).map((key) => key.slice(this.#prefix.length));
    } catch {
      return [];
    }
  }

  /** Remove every key that starts with `start`. */
  clear(start = ""): void {
    for (const key of this.keys().filter((key) => key.startsWith(start))) {
      this.remove(key);
    }
  }
}

/** What this browser keeps when the tab is closed: tokens of sessions, drafts, messages without an answer. */
export function inLocalStorage(prefix: string): PrefixedStorage {
  return new PrefixedStorage(browserStorage("localStorage"), prefix);
}

/** What this tab keeps over a refresh: the researcher's token. */
export function inSessionStorage(prefix: string): PrefixedStorage {
  return new PrefixedStorage(browserStorage("sessionStorage"), prefix);
}

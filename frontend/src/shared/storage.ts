/** The part of Web Storage that is used here. */
export interface WebStorage {
  readonly length: number;
  key(index: number): string | null;
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

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

  set(key: string, value: unknown): void {
    try {
      this.#store?.setItem(this.#prefix + key, JSON.stringify(value));
    } catch {
      // Nothing to be done: what is on the screen stays there.
    }
  }

  remove(key: string): void {
    try {
      this.#store?.removeItem(this.#prefix + key);
    } catch {
      // As above.
    }
  }

  /** Remove every key that starts with `start`. */
  clear(start = ""): void {
    try {
      const store = this.#store;
      if (!store) {
        return;
      }
      const keys = Array.from({ length: store.length }, (_, index) => store.key(index));
      for (const key of keys) {
        if (key?.startsWith(this.#prefix + start)) {
          store.removeItem(key);
        }
      }
    } catch {
      // As above.
    }
  }
}

function browserStorage(name: "localStorage" | "sessionStorage"): WebStorage | null {
  try {
    return window[name];
  } catch {
    return null;
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

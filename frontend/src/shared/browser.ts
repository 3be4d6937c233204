/*
 * Browser services that a browser may refuse or lack, and what is done without them. A browser that blocks
 * site data refuses storage and locks; plain http pages have no locks and no clipboard.
 */

/** The part of Web Storage that is used here. */
export type WebStorage = Pick<Storage, "length" | "key" | "getItem" | "setItem" | "removeItem">;

const LOCK_MS = 20_000;
const PROBE = "candor:probe";
const IN_HISTORY = "candor";

/** The storage of that name; where the browser refuses it, the entry of this page in the tab's history. */
export function browserStorage(name: "localStorage" | "sessionStorage"): WebStorage {
  try {
    const store = window[name];
    store.setItem(PROBE, "");
    store.removeItem(PROBE);
    return store;
  } catch {
    return historyStorage();
  }
}

let inHistory: HistoryStorage | null = null;

function historyStorage(): HistoryStorage {
  inHistory ??= new HistoryStorage();
  return inHistory;
}

/** Whether what this page keeps is gone once its tab is closed. */
export function forgetsWithTab(): boolean {
  return browserStorage("localStorage") instanceof HistoryStorage;
}

/** Keeps texts in `history.state`, which outlives a reload of the page and needs no permission. */
class HistoryStorage implements WebStorage {
  readonly #entries: Map<string, string>;

  constructor() {
    const state = (window.history?.state ?? {}) as { [IN_HISTORY]?: Record<string, string> };
    this.#entries = new Map(Object.entries(state[IN_HISTORY] ?? {}));
  }

  get length(): number {
    return this.#entries.size;
  }

  key(index: number): string | null {
    return [...this.#entries.keys()][index] ?? null;
  }

  getItem(key: string): string | null {
    return this.#entries.get(key) ?? null;
  }

  /** Keep a text. Throws where it lasts for as long as the page only: Safari takes 100 changes in 30 seconds. */
  setItem(key: string, value: string): void {
    this.#entries.set(key, value);
    this.#write();
  }

  removeItem(key: string): void {
    this.#entries.delete(key);
    this.#write();
  }

  #write(): void {
    const { history } = window;
    history.replaceState({ ...history.state, [IN_HISTORY]: Object.fromEntries(this.#entries) }, "");
  }
}

/**
 * Return what `act` returns, done while no other tab does what bears the same name. The others wait `settling`
 * milliseconds longer. Without locks, or behind a tab that does not let go, it is done at once.
 */
export async function oneTabAtATime<T>(name: string, settling: number, act: () => Promise<T>): Promise<T> {
  let acting: Promise<T> | null = null;
  const once = () => {
    acting ??= act();
    return acting;
  };
  return new Promise((resolve, reject) => {
    const held = async () => {
      await once().then(resolve, reject);
      await new Promise((settled) => setTimeout(settled, settling));
    };
    lock(name, held).catch(() => once().then(resolve, reject));
  });
}

async function lock(name: string, held: () => Promise<void>): Promise<void> {
  const locks = navigator.locks as LockManager | undefined;
  if (!locks) {
    throw new Error("this browser has no locks");
  }
  await locks.request(name, { signal: abortedAfter(LOCK_MS) }, held);
}

/** A signal that gives a request up after so long: `AbortSignal.timeout`, which browsers before 2022 lack. */
export function abortedAfter(ms: number): AbortSignal {
  const control = new AbortController();
  setTimeout(() => control.abort(), ms);
  return control.signal;
}

/** Whether the page may be seen. A browser that does not say shows it. */
export function isSeen(): boolean {
  return document.visibilityState !== "hidden";
}

/** Copy a text; returns whether it was copied. Where it was not, what shows the text is selected for the usual keys. */
export async function copyText(text: string, shown: HTMLElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    if (shown) {
      window.getSelection()?.selectAllChildren(shown);
    }
    return false;
  }
}

import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import type { Session } from "./session/session";
import { type Texts, textsOf } from "./texts/words";

/** The session of this page, for every screen below. */
export const SessionContext = createContext<Session | null>(null);

/** Return the page's session and draw anew whenever it changes. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) {
    throw new Error("useSession needs a SessionContext above it");
  }
  const [, draw] = useState(0);
  useEffect(() => {
    const again = () => draw((count) => count + 1);
    // What changed between the first drawing and now has told nobody.
    again();
    return session.subscribe(again);
  }, [session]);
  return session;
}

/** What the page says, in the study's language. */
export function useTexts(): Texts {
  return textsOf(useSession().words);
}

/** State that outlives the tab, until what it is for has been sent. */
export function useDraft<T>(key: string, start: T): [T, (value: T) => void] {
  const { drafts } = useSession();
  const [value, setValue] = useState<T>(() => drafts.get<T>(key) ?? start);
  const keep = (next: T) => {
    drafts.set(key, next);
    setValue(next);
  };
  return [value, keep];
}

/** Name the page in the browser's tab. Where `news` is another than when the worker looked last, the name has a mark. */
export function useTitle(title: string, news = 0): void {
  const seen = useRef(news);
  const brand = useSession().state.study?.lab?.name ?? "Candor";
  useEffect(() => {
    const name = () => {
      if (document.visibilityState === "visible") {
        seen.current = news;
      }
      document.title = `${seen.current === news ? "" : "● "}${title} – ${brand}`;
    };
    name();
    document.addEventListener("visibilitychange", name);
    return () => document.removeEventListener("visibilitychange", name);
  }, [title, news, brand]);
}

/** Whether `active` has been so for longer than `ms`. */
export function useOverdue(active: boolean, ms: number): boolean {
  const [overdue, setOverdue] = useState(false);
  useEffect(() => {
    setOverdue(false);
    if (!active) {
      return undefined;
    }
    const timer = setTimeout(() => setOverdue(true), ms);
    return () => clearTimeout(timer);
  }, [active, ms]);
  return overdue;
}

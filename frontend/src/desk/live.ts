import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { ask, Unauthorised } from "./api";

const EVERY_MS = 2_000;

/** What a researcher's views need from the page around them. */
export interface Desk {
  token: string;
  onUnauthorised: () => void;
}

export const DeskContext = createContext<Desk>({ token: "", onUnauthorised: () => undefined });

export interface Live<T> {
  data: T | null;
  /** Why the newest data could not be had; older data stays. */
  trouble: string | null;
}

/** What the server says at `path`, asked again every two seconds while the page is seen. */
export function useLive<T>(path: string): Live<T> {
  const { token, onUnauthorised } = useContext(DeskContext);
  const [live, setLive] = useState<Live<T>>({ data: null, trouble: null });
  useEffect(() => {
    const control = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async () => {
      try {
        if (document.visibilityState === "visible") {
          const data = await ask<T>(path, token, control.signal);
          setLive({ data, trouble: null });
        }
      } catch (error) {
        if (control.signal.aborted) {
          return;
        }
        if (error instanceof Unauthorised) {
          onUnauthorised();
          return;
        }
        const trouble = error instanceof Error ? error.message : String(error);
        setLive(({ data }) => ({ data, trouble }));
      }
      timer = setTimeout(() => void look(), EVERY_MS);
    };
    setLive({ data: null, trouble: null });
    void look();
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [path, token]);
  return live;
}

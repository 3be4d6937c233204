import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { type ApiPath, apiAddress, getJson, Unauthorised } from "./api";
import type { Answers } from "./api_types";

const EVERY_MS = 2_000;

/** What a researcher's views need from the page around them. */
export interface Researcher {
  token: string;
  onUnauthorised: () => void;
}

export const ResearcherContext = createContext<Researcher>({ token: "", onUnauthorised: () => undefined });

export interface Polled<T> {
  data: T | null;
  /** Why the newest data could not be had; older data stays. */
  failure: string | null;
}

/** What the server says at `path` with `values` put in, asked again every two seconds while the page is seen. */
export function usePolled<P extends ApiPath>(
  path: P,
  values: Record<string, string> = {},
): Polled<Answers[P]> {
  const { token, onUnauthorised } = useContext(ResearcherContext);
  const [polled, setPolled] = useState<Polled<Answers[P]>>({ data: null, failure: null });
  useEffect(() => {
    const control = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async () => {
      try {
        if (document.visibilityState === "visible") {
          const data = await getJson(path, values, token, control.signal);
          setPolled({ data, failure: null });
        }
      } catch (error) {
        if (control.signal.aborted) {
          return;
        }
        if (error instanceof Unauthorised) {
          onUnauthorised();
          return;
        }
        const failure = error instanceof Error ? error.message : String(error);
        setPolled(({ data }) => ({ data, failure }));
      }
      timer = setTimeout(() => void look(), EVERY_MS);
    };
    setPolled({ data: null, failure: null });
    void look();
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [apiAddress(path, values), token]);
  return polled;
}

import { useContext, useEffect, useState } from "preact/hooks";
import { backoff } from "../shared/backoff";
import { apiAddress, Refused, readStream, Unauthorised } from "./api";
import type { Pushed } from "./api_types";
import { ResearcherContext } from "./researcher";

export interface Watched<T> {
  data: T | null;
  /** Why nothing new comes; what came before stays. */
  failure: string | null;
  /** The server knows nothing of that name, so it is not asked again. */
  missing?: boolean;
}

/**
 * What `take` makes of the events that the server pushes at `path`, for as long as it is shown.
 *
 * A connection that is lost is made again, and goes on after the last event that came.
 */
export function usePushed<P extends keyof Pushed, T>(
  path: P,
  values: Record<string, string>,
  take: (before: T | null, change: Pushed[P]) => T | null,
): Watched<T> {
  const { token, onUnauthorised } = useContext(ResearcherContext);
  const [watched, setWatched] = useState<Watched<T>>({ data: null, failure: null });
  const address = apiAddress(path, values);
  useEffect(() => {
    const control = new AbortController();
    const follow = async () => {
      let last: string | null = null;
      for (let tries = 0; !control.signal.aborted; tries += 1) {
        try {
          for await (const event of readStream(address, token, last, control.signal)) {
            last = event.id || last; // only the last of several that belong together has one
            tries = 0;
            const change = JSON.parse(event.data) as Pushed[P];
            setWatched(({ data }) => ({ data: take(data, change), failure: null }));
          }
        } catch (error) {
          if (control.signal.aborted) {
            return;
          }
          if (error instanceof Unauthorised) {
            onUnauthorised();
            return;
          }
          if (error instanceof Refused && error.code?.endsWith("_not_found")) {
            setWatched({ data: null, failure: null, missing: true });
            return;
          }
          const reason = error instanceof Error ? error.message : String(error);
          const failure = `${reason} This page keeps trying.`;
          setWatched(({ data }) => ({ data, failure }));
        }
        await new Promise((done) => setTimeout(done, backoff(tries)));
      }
    };
    setWatched({ data: null, failure: null });
    void follow();
    return () => control.abort();
  }, [address, token]);
  return watched;
}

/** For what is pushed whole whenever it changes: the newest counts. */
export function newestOf<T>(_before: T | null, change: T): T {
  return change;
}

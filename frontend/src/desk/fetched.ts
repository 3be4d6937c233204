import { useContext, useEffect, useState } from "preact/hooks";
import { type ApiPath, apiAddress, getJson, Refused, Unauthorised } from "./api";
import type { Answers } from "./api_types";
import type { Watched } from "./pushed";
import { ResearcherContext } from "./researcher";

/** What the server says at `path` with `values` put in, asked anew whenever `version` is another. */
export function useFetched<P extends ApiPath>(
  path: P,
  values: Record<string, string>,
  version: unknown,
  query: Record<string, string> = {},
): Watched<Answers[P]> {
  const { token, onUnauthorised } = useContext(ResearcherContext);
  const [fetched, setFetched] = useState<Watched<Answers[P]>>({ data: null, failure: null });
  useEffect(() => {
    const control = new AbortController();
    getJson(path, values, token, control.signal, query)
      .then((data) => setFetched({ data, failure: null }))
      .catch((error: unknown) => {
        if (control.signal.aborted) {
          return;
        }
        if (error instanceof Unauthorised) {
          onUnauthorised();
          return;
        }
        const missing = error instanceof Refused && error.code?.endsWith("_not_found") === true;
        const failure = error instanceof Error ? error.message : String(error);
        setFetched(({ data }) => ({ data, failure, missing }));
      });
    return () => control.abort();
  }, [apiAddress(path, values), token, version, new URLSearchParams(query).toString()]);
  return fetched;
}

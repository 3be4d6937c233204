import { useContext, useEffect, useState } from "preact/hooks";
import { apiAddress, postForStream, Refused } from "../api";
import type { CheckView } from "../api_types";
import { ResearcherContext } from "../researcher";

/** The check of one of a study's own bots. It lives as long as this page: the server stores none. */
export interface OwnCheck {
  view: CheckView | null;
  /** Why it was not begun, or was lost; empty otherwise. */
  failure: string;
  /** What was checked, so that a later change can be seen. */
  endpoint: string;
}

const checks = new Map<string, OwnCheck>();
const watchers = new Set<() => void>();

/** The newest check of a study's own bot, and what begins one of the study in `yaml`. */
export function useOwnCheck(study: string, bot: string, endpoint: unknown) {
  const { token } = useContext(ResearcherContext);
  const [, draw] = useState(0);
  useEffect(() => {
    const watch = () => draw((count) => count + 1);
    watchers.add(watch);
    return () => {
      watchers.delete(watch);
    };
  }, []);
  const key = JSON.stringify([study, bot]);
  const now = JSON.stringify(endpoint);
  const check = checks.get(key) ?? null;
  const start = async (yaml: string) => {
    const note = (next: Partial<OwnCheck>) => {
      checks.set(key, { view: null, failure: "", endpoint: now, ...next });
      for (const tell of watchers) {
        tell();
      }
    };
    const address = apiAddress("/api/desk/studies/{study}/bot-check", { study });
    const { signal } = new AbortController();
    let newest = null as CheckView | null;
    try {
      for await (const event of postForStream(address, { yaml, bot }, token, "Check", signal)) {
        newest = JSON.parse(event.data) as CheckView;
        note({ view: newest });
      }
      if (newest?.state === "running") {
        note({ failure: "The connection to the server was lost. Check again." });
      }
    } catch (error) {
      if (!(error instanceof Refused && error.message === "")) {
        note({ failure: error instanceof Error ? error.message : String(error) });
      }
    }
  };
  return { check, isOfNow: check?.endpoint === now, start };
}

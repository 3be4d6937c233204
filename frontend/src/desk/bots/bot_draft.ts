import { useContext, useRef, useState } from "preact/hooks";
import { send } from "../api";
import type { CheckedStudy, MistakeView } from "../api_types";
import { ResearcherContext } from "../researcher";
import type { SettingsEditor } from "../studies/Field";
import { isWithin, type Path, valueAt, withValue } from "../studies/settings";
import type { Endpoint } from "./services";

/** Where a bot that is being written stands: among a study's own, whose settings it shares. */
export const DRAFT: Path = ["bots", "new"];

/** An endpoint while it is written. */
export interface BotDraft extends SettingsEditor {
  endpoint: Endpoint;
  /** Have the server look for mistakes; returns whether there are none. */
  check: () => Promise<boolean>;
}

/** The endpoint that is being written; its mistakes are told from the first `check` on. */
export function useBotDraft(start: Endpoint): BotDraft {
  const { token } = useContext(ResearcherContext);
  const [content, setContent] = useState<Record<string, unknown>>({ bots: { new: start } });
  const [mistakes, setMistakes] = useState<MistakeView[]>([]);
  const newest = useRef(content);
  const change = (path: Path, value: unknown) => {
    newest.current = withValue(newest.current, path, value) as Record<string, unknown>;
    setContent(newest.current);
    // What is being fixed is not complained of until it is checked again.
    setMistakes((before) =>
      before.filter((mistake) => !isWithin(mistake.path, path) && mistake.path.length > DRAFT.length),
    );
  };
  return {
    content,
    endpoint: valueAt(content, DRAFT) as Endpoint,
    mistakes,
    set: change,
    remove: (path) => change(path, undefined),
    check: async () => {
      const yaml = JSON.stringify(newest.current); // JSON is YAML, too
      const checked = (await send(
        "POST",
        "/api/desk/study-check",
        { yaml, changes: [] },
        token,
      )) as CheckedStudy;
      const found = checked.mistakes.filter(({ path }) => isWithin(path, DRAFT));
      setMistakes(found);
      return found.length === 0;
    },
  };
}

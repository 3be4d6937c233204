import { useContext, useRef, useState } from "preact/hooks";
import { send } from "../api";
import type { CheckedStudy, MistakeView } from "../api_types";
import { ResearcherContext } from "../researcher";
import type { SettingsEditor } from "./Field";
import {
  alternatives,
  freeParts,
  isWithin,
  type Path,
  resolved,
  type Schema,
  valueAt,
  withValue,
} from "./settings";

/** Where a bot that is being written stands: among a study's own, whose settings it shares. */
export const DRAFT: Path = ["bots", "new"];

/** What is asked of a bot first. */
export const FIRST: ReadonlySet<string> = new Set(["urls", "model", "key"]);

/** A bot's endpoint as it is sent. */
export interface Endpoint extends Record<string, unknown> {
  kind: string;
}

/** An endpoint while it is written. */
export interface BotDraft extends SettingsEditor {
  endpoint: Endpoint;
  /** Start anew with another kind, described by `schema`; what is asked first and both kinds have is kept. */
  begin: (kind: string, schema: Schema) => void;
  /** Have the server look for mistakes; returns whether there are none. */
  check: () => Promise<boolean>;
}

/** The help text of a kind of endpoint, with an example of how one is started or of what it is called. */
export type KindHelp = NonNullable<Schema["x-kind"]>;

function endpointSchemas(root: Schema): Schema[] {
  const bots = resolved(root.properties?.bots ?? {}, root);
  return alternatives(freeParts(bots) ?? {}, root);
}

/** Return the help text of each kind of endpoint in the schema of a study. */
export function kindsOf(root: Schema): Record<string, KindHelp> {
  return Object.fromEntries(
    endpointSchemas(root).flatMap((each) =>
      each["x-kind"] ? [[String(each.properties?.kind?.const), each["x-kind"]]] : [],
    ),
  );
}

/** Return the schema of a kind of endpoint, from that of a study. */
export function endpointSchema(root: Schema, kind: string): Schema {
  return endpointSchemas(root).find((each) => each.properties?.kind?.const === kind) ?? {};
}

/** A schema with some of its settings only. */
export function picked(schema: Schema, wanted: (setting: string) => boolean): Schema {
  const properties = Object.entries(schema.properties ?? {}).filter(
    ([name]) => name !== "kind" && wanted(name),
  );
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** The endpoint that is being written; its mistakes are told from the first `check` on. */
export function useBotDraft(kind: string): BotDraft {
  const { token } = useContext(ResearcherContext);
  const [content, setContent] = useState<Record<string, unknown>>({ bots: { new: { kind } } });
  const [mistakes, setMistakes] = useState<MistakeView[]>([]);
  const newest = useRef(content);
  const endpoint = valueAt(content, DRAFT) as Endpoint;
  const write = (next: unknown) => {
    newest.current = next as Record<string, unknown>;
    setContent(newest.current);
  };
  const change = (path: Path, value: unknown) => {
    write(withValue(newest.current, path, value));
    // What is being mended is not complained of until it is looked at again.
    setMistakes((before) =>
      before.filter((mistake) => !isWithin(mistake.path, path) && mistake.path.length > DRAFT.length),
    );
  };
  return {
    content,
    endpoint,
    mistakes,
    set: change,
    remove: (path) => change(path, undefined),
    begin: (next, schema) => {
      const kept = Object.entries(endpoint).filter(([name]) => FIRST.has(name) && schema.properties?.[name]);
      write(withValue(newest.current, DRAFT, { kind: next, ...Object.fromEntries(kept) }));
      setMistakes([]);
    },
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

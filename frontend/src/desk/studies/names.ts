import { capitalised } from "../format";
import { alternatives, freeParts, type Path, type Schema } from "./settings";

/** What a setting is called on the page, and what a researcher should know of it. */
export interface SettingName {
  label: string;
  hint?: string;
}

/** Mappings whose names are the researcher's own: these stay as they are written. */
const OWN_NAMES = new Set(["bots", "bots.*.headers", "bots.*.query", "simulate.quality", "texts.words"]);

/** A path without the numbers and the researcher's own names in it. */
export function general(path: Path): string {
  return path.reduce<string>((before, key) => {
    const name = typeof key === "number" || OWN_NAMES.has(before) ? "*" : key;
    return before ? `${before}.${name}` : name;
  }, "");
}

/** Whether a path ends in a name of the researcher's own. */
export function isOwnName(path: Path): boolean {
  return OWN_NAMES.has(general(path.slice(0, -1)));
}

/** The setting at a path as the server describes it, with its title; of several kinds, the first that has it. */
function described(path: Path, root: Schema): Schema {
  const found = path.reduce<Schema[]>(
    (before, key) =>
      before
        .flatMap((each) => alternatives(each, root))
        .flatMap((each) =>
          typeof key === "number" ? (each.items ?? []) : (each.properties?.[key] ?? freeParts(each) ?? []),
        ),
    [root],
  );
  return found.find(({ $ref, title }) => $ref === undefined || title !== undefined) ?? {};
}

/** What the setting at a path is called. One without a title is called by its own name. */
export function nameOf(path: Path, root: Schema): SettingName {
  const own = String(path.at(-1) ?? "");
  if (isOwnName(path)) {
    return { label: own };
  }
  const { title, description } = described(path, root);
  return {
    label: title ?? capitalised(own.replaceAll("_", " ")),
    ...(description !== undefined && { hint: description }),
  };
}

/** What a word of the setting at a path is called. */
export function wordAt(path: Path, word: string, root: Schema): string {
  return capitalised(described(path, root)["x-words"]?.[word] ?? word.replaceAll("_", " "));
}

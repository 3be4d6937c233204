import { type Path, type Schema, valueAt } from "./settings";

const SINGULAR: Record<string, string> = {
  Criteria: "Criterion",
  Personas: "Persona",
  "Boxes to tick": "Box",
};

/** What one thing is called of a list of this name. */
export function singular(label: string): string {
  return SINGULAR[label] ?? label.replace(/^Questions\b/, "Question").replace(/s$/, "");
}

/** The shipped texts of the thing at a path, by the names of its settings. */
export function shippedWithin(shipped: Record<string, string> | undefined, path: Path) {
  const start = `${path.join(".")}.`;
  const within = Object.entries(shipped ?? {}).filter(([name]) => name.startsWith(start));
  return Object.fromEntries(within.map(([name, text]) => [name.slice(start.length), text]));
}

/** What a thing in a list is called when it is closed; shipped texts stand where it has none of its own. */
export function summary(value: unknown, shipped: Record<string, string> = {}): string {
  if (Array.isArray(value)) {
    return value.map(String).join(" ");
  }
  if (typeof value !== "object" || value === null) {
    return String(value ?? "");
  }
  const { kind: _, ...own } = value as Record<string, unknown>;
  // A label that was made of a text says no more than the text.
  const said = [own.question, own.text].find((text) => typeof text === "string" && text !== "");
  if (typeof said === "string" && labelOf(said) === own.label) {
    return said;
  }
  const texts = Object.values({ ...own, ...shipped, ...own }).filter(
    (part) => typeof part === "string" && part !== "",
  );
  return [...new Set(texts)].slice(0, 3).join(" · ");
}

/** A name for the data, made from a text: "I am at least 18." → "i_am_at_least_18"; empty where it has no letters for one. */
export function labelOf(text: string): string {
  const words = text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return (words ?? [])
    .slice(0, 6)
    .join("_")
    .replace(/^[0-9_]+/, "")
    .slice(0, 40)
    .replace(/_$/, "");
}

/**
 * The label that goes with a new text of the thing at `path` of a list; null where it has one that was written by hand.
 * No two things of the list have the same.
 */
export function labelFor(
  content: unknown,
  path: Path,
  before: string,
  after: string,
  one: string,
): string | null {
  const at = Number(path.at(-1));
  const all = valueAt(content, path.slice(0, -1));
  const labels = (Array.isArray(all) ? all : []).map((each) => valueAt(each, ["label"]));
  const made = (text: string) => {
    const plain = labelOf(text) || `${one}_${at + 1}`;
    const taken = labels.filter((_, index) => index !== at);
    return taken.includes(plain) ? `${plain.slice(0, 36)}_${at + 1}` : plain;
  };
  const label = labels[at] ?? "";
  return label === "" || label === made(before) ? made(after) : null;
}

/** A copy, under a name of its own. */
export function copyOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return value;
  }
  const copy = { ...value } as Record<string, unknown>;
  for (const key of ["name", "label"]) {
    if (typeof copy[key] === "string") {
      copy[key] = `${copy[key]}_copy`;
    }
  }
  return copy;
}

/** The names of kinds whose schema has none in words. */
const KINDS: Record<string, string> = {
  prolific: "Prolific",
  connect: "CloudResearch Connect",
  sona: "SONA",
};

/** What a choice is called among those that something may be. */
export function titleOf(schema: Schema): string {
  const kind = kindOf(schema);
  if (kind !== null) {
    return schema["x-kind"]?.name ?? KINDS[kind] ?? kind;
  }
  return schema.type === "array" || schema.type === "string" ? "Written here" : "Numbers of your own";
}

/** What tells a choice apart from the others that something may be: its kind, or its type. */
export function optionOf(schema: Schema): string {
  return kindOf(schema) ?? schema.type ?? "";
}

function kindOf(schema: Schema): string | null {
  const kind = schema.properties?.kind?.const;
  return typeof kind === "string" ? kind : null;
}

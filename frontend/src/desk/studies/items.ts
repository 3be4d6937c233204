import { freeParts, type Path, type Schema } from "./settings";

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
  const own = value as Record<string, unknown>;
  return Object.values({ ...own, ...shipped, ...own })
    .filter((part) => typeof part === "string" && part !== "")
    .slice(0, 3)
    .join(" · ");
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

/** What a choice is called among those that something may be. */
export function titleOf(schema: Schema): string {
  const kind = schema.properties?.kind?.const;
  if (typeof kind === "string") {
    return kind;
  }
  return schema.type === "array"
    ? "its own"
    : schema.properties || freeParts(schema)
      ? "by number"
      : "written out";
}

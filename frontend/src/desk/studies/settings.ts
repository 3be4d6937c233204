/** The settings of a study as the server's JSON Schema describes them. */
export interface Schema {
  title?: string;
  description?: string;
  type?: string;
  $ref?: string;
  anyOf?: Schema[];
  oneOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  items?: Schema;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  $defs?: Record<string, Schema>;
  /** The setting belongs to an answer of one of these kinds. */
  "x-kinds"?: string[];
  /** The names of words that the setting may be; of a text without `enum`, others are possible. */
  "x-words"?: Record<string, string>;
  /** The settings of a study that each task does not use. */
  "x-unused"?: Record<string, string[]>;
  /** Any new code will do, so that one is made. */
  "x-code"?: boolean;
  /** The help text of a kind of endpoint. */
  "x-kind"?: { name: string; about: string; example: string };
}

/** Where a setting stands: names of settings, and numbers in lists. */
export type Path = (string | number)[];

/** The schema that stands behind a reference; itself where there is none. */
export function resolved(schema: Schema, root: Schema): Schema {
  const name = schema.$ref?.split("/").at(-1);
  const meant = name === undefined ? undefined : root.$defs?.[name];
  return meant ? { ...meant, default: schema.default } : schema;
}

/** The alternatives of a setting, without "nothing"; one where there is no choice. */
export function alternatives(schema: Schema, root: Schema): Schema[] {
  const meant = resolved(schema, root);
  const choices = meant.anyOf ?? meant.oneOf;
  return choices
    ? choices.flatMap((choice) => alternatives(choice, root)).filter(({ type }) => type !== "null")
    : [meant];
}

/** Whether a setting may be left out altogether. */
export function isOptional(schema: Schema, root: Schema): boolean {
  const { anyOf, oneOf, type } = resolved(schema, root);
  return type === "null" || (anyOf ?? oneOf ?? []).some((choice) => isOptional(choice, root));
}

/** What the parts of a mapping with free names may be; null where its names are fixed. */
export function freeParts(schema: Schema): Schema | null {
  const pattern = Object.values(schema.patternProperties ?? {})[0];
  const free = schema.additionalProperties;
  return pattern ?? (typeof free === "object" ? free : null);
}

/** Whether anything may stand in a mapping. */
export function isFree(schema: Schema): boolean {
  return schema.additionalProperties === true && !schema.properties;
}

/** Whether a value is of the kind that an alternative describes. */
export function fits(value: unknown, schema: Schema): boolean {
  if (schema.properties || freeParts(schema)) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return false;
    }
    const kind = schema.properties?.kind?.const;
    return kind === undefined || (value as Record<string, unknown>).kind === kind;
  }
  if (schema.type === "array") {
    return Array.isArray(value);
  }
  const words = wordsOf(schema);
  return words.length > 0 ? typeof value === "string" : value !== undefined && typeof value !== "object";
}

/** The settings to fill in of a mapping: without those of other kinds, and a `kind` that is chosen already. */
export function partsOf(schema: Schema, content: unknown): [string, Schema][] {
  const here = (name: string) => valueAt(content, [name]);
  return Object.entries(schema.properties ?? {}).filter(
    ([name, part]) =>
      !(name === "kind" && part.const !== undefined) &&
      (here(name) !== undefined || (part["x-kinds"]?.includes(String(here("kind"))) ?? true)),
  );
}

/** A change of one setting. */
export interface Change {
  path: Path;
  value?: unknown;
  remove?: boolean;
}

/** What to change so that the answer at `path` is of another kind: its settings of the old kind go. */
export function kindChanges(schema: Schema, content: unknown, path: Path, kind: string): Change[] {
  const foreign = Object.entries(schema.properties ?? {}).filter(
    ([name, part]) =>
      part["x-kinds"]?.includes(kind) === false && valueAt(content, [...path, name]) !== undefined,
  );
  const points = schema.properties?.points?.["x-kinds"]?.includes(kind);
  const asked = points && valueAt(content, [...path, "points"]) === undefined;
  return [
    ...foreign.map(([name]) => ({ path: [...path, name], remove: true })),
    { path: [...path, "kind"], value: kind },
    ...(asked ? [{ path: [...path, "points"], value: POINTS }] : []),
  ];
}

/** The points of a scale to begin with. */
const POINTS = 7;

/** The words that a setting may be; none where it may be anything. */
export function wordsOf(schema: Schema): string[] {
  const words = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  return words.filter((word): word is string => typeof word === "string");
}

/** A value to begin with. */
export function beginning(schema: Schema, root: Schema): unknown {
  const meant = alternatives(schema, root)[0] ?? {};
  if (meant.properties) {
    const needed = Object.entries(meant.properties).filter(
      ([name, part]) => meant.required?.includes(name) || part.const !== undefined,
    );
    return Object.fromEntries(needed.map(([name, part]) => [name, beginning(part, root)]));
  }
  if (meant.type === "array") {
    return meant.items && alternatives(meant.items, root)[0]?.type === "string" ? [""] : [];
  }
  if (freeParts(meant)) {
    return {};
  }
  if (meant.type === "boolean") {
    return false;
  }
  if (meant.type === "integer" || meant.type === "number") {
    return meant.minimum ?? 0;
  }
  return wordsOf(meant)[0] ?? (meant["x-code"] ? newCode() : "");
}

function newCode(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(4));
  return `C${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`.toUpperCase();
}

/** What `content` is with another value at `path`; undefined takes the setting away. */
export function withValue(content: unknown, path: Path, value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) {
    return value;
  }
  if (typeof key === "number") {
    const list = Array.isArray(content) ? [...content] : [];
    if (rest.length === 0 && value === undefined) {
      list.splice(key, 1);
    } else {
      list[key] = withValue(list[key], rest, value);
    }
    return list;
  }
  const mapping = { ...(typeof content === "object" && content !== null ? content : {}) } as Record<
    string,
    unknown
  >;
  const after = withValue(mapping[key], rest, value);
  if (after === undefined) {
    delete mapping[key];
  } else {
    mapping[key] = after;
  }
  return mapping;
}

/** What stands at `path` of `content`. */
export function valueAt(content: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (within, key) =>
      typeof within === "object" && within !== null
        ? (within as Record<string | number, unknown>)[key]
        : undefined,
    content,
  );
}

/** Whether two paths name the same place. */
export function samePath(one: Path, other: Path): boolean {
  return one.length === other.length && one.every((key, index) => key === other[index]);
}

/** Whether `path` lies at or within `outer`. */
export function isWithin(path: Path, outer: Path): boolean {
  return outer.every((key, index) => path[index] === key);
}

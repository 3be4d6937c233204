import { nameOf, wordAt } from "./names";
import type { Path, Schema } from "./settings";

const LONGEST = 90;
const MOST_ITEMS = 5;

/** What was chosen for a setting, on a line. */
export function choiceInShort(path: Path, value: unknown, root: Schema): string {
  if (typeof value === "boolean") {
    return value ? "Yes" : "No";
  }
  if (Array.isArray(value)) {
    const names = value.slice(0, MOST_ITEMS).map(nameOfItem);
    const rest = value.length - names.length;
    return value.length === 0 ? "None" : names.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
  }
  if (typeof value === "object" && value !== null) {
    return Object.entries(value)
      .map(([name, inner]) => {
        const { label } = nameOf([...path, name], root);
        return typeof inner === "object" ? label : `${label}: ${choiceInShort([...path, name], inner, root)}`;
      })
      .join(" · ");
  }
  return shortened(typeof value === "string" ? wordAtOrSelf(path, value, root) : String(value ?? ""));
}

/** Where a setting stands: "Criteria 2, Statement". */
export function placeInWords(path: Path, root: Schema): string {
  return path
    .map((key, index) =>
      typeof key === "number"
        ? ` ${key + 1}`
        : `${index > 0 ? ", " : ""}${nameOf(path.slice(0, index + 1), root).label}`,
    )
    .join("");
}

function wordAtOrSelf(path: Path, value: string, root: Schema): string {
  const word = wordAt(path, value, root);
  return word.toLowerCase() === value.replaceAll("_", " ").toLowerCase() ? value : word;
}

function nameOfItem(item: unknown): string {
  const named = item as Record<string, unknown> | null;
  const name = typeof item === "object" ? (named?.name ?? named?.label ?? named?.text ?? "…") : item;
  return shortened(String(name));
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}

import { useState } from "preact/hooks";

/** How the rows of a table are sorted, and what changes it. */
export interface Sorting {
  by: string | null;
  order: "ascending" | "descending";
  onSort: (by: string) => void;
}

type Key = string | number | null;

/** Rows as they were given, until a column's name is pressed; pressed again, the other way round; then as before. */
export function useSorting<Row>(
  rows: readonly Row[],
  keys: Record<string, (row: Row) => Key>,
): { rows: readonly Row[]; sorting: Sorting } {
  const [by, setBy] = useState<string | null>(null);
  const [order, setOrder] = useState<Sorting["order"]>("ascending");
  const onSort = (pressed: string) => {
    const again = pressed === by;
    setBy(again && order === "descending" ? null : pressed);
    setOrder(again && order === "ascending" ? "descending" : "ascending");
  };
  const key = by === null ? undefined : keys[by];
  return { rows: key ? sorted(rows, key, order) : rows, sorting: { by, order, onSort } };
}

/** Rows in the order of a key; those without one come last, either way. */
export function sorted<Row>(
  rows: readonly Row[],
  key: (row: Row) => Key,
  order: Sorting["order"],
): readonly Row[] {
  const sign = order === "ascending" ? 1 : -1;
  return [...rows].sort((one, other) => {
    const [a, b] = [key(one), key(other)];
    if (a === null || b === null) {
      return Number(a === null) - Number(b === null);
    }
    return sign * (typeof a === "string" ? a.localeCompare(String(b)) : a - Number(b));
  });
}

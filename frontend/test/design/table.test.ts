import { expect, test } from "vitest";
import { compact } from "../../src/design/dates";
import { sorted } from "../../src/design/sorting";

const ROWS = [{ p: 0.2 }, { p: null }, { p: 0.01 }];

test("rows without a value come last, either way", () => {
  const values = (order: "ascending" | "descending") => sorted(ROWS, (row) => row.p, order).map(({ p }) => p);
  expect(values("ascending")).toEqual([0.01, 0.2, null]);
  expect(values("descending")).toEqual([0.2, 0.01, null]);
});

test("words are sorted as people sort them", () => {
  const words = ["zebra", "Äpfel", "apple"].map((word) => ({ word }));
  expect(sorted(words, (row) => row.word, "ascending").map(({ word }) => word)).toEqual(
    ["Äpfel", "apple", "zebra"].sort((a, b) => a.localeCompare(b)),
  );
});

test("a date is as short as it can be without a doubt", () => {
  const now = new Date(2026, 10, 27, 18, 0);
  const [today, thisYear, before] = [
    new Date(2026, 10, 27, 9, 5),
    new Date(2026, 2, 1, 9, 5),
    new Date(2025, 2, 1),
  ];
  expect(compact(today, now)).toBe(
    today.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" }),
  );
  expect(compact(thisYear, now)).toMatch(/1.*(9|09).05/);
  expect(compact(before, now)).toMatch(/2025/);
});

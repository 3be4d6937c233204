import { expect, it } from "vitest";
import type { RunAnalysis } from "../../src/desk/api_types";
import { bandsOf, someOf, widestOf, withNewest } from "../../src/desk/run/narrowing";

const score = (system: string, z: number, half: number | null) => ({
  system,
  z,
  low: half === null ? null : z - half,
  high: half === null ? null : z + half,
});
const LOOKS = [
  { ratings: 10, scores: [score("a", 0, null), score("b", 0.5, 1)] },
  { ratings: 20, scores: [score("a", 0.25, 0.5), score("b", 0.5, 0.75)] },
];

it("takes up a look that is newer, and no other", () => {
  const pushed = (ratings: number) => ({ ratings, scores: [] }) as unknown as RunAnalysis;
  expect(withNewest(LOOKS, pushed(20))).toBe(LOOKS);
  expect(withNewest(LOOKS, null)).toBe(LOOKS);
  expect(withNewest(LOOKS, pushed(30)).map(({ ratings }) => ratings)).toEqual([10, 20, 30]);
});

it("has a band for each system, the best first, with gaps where there was no interval", () => {
  const bands = bandsOf(LOOKS);
  expect(bands.map(({ system }) => system)).toEqual(["b", "a"]);
  expect(bands[1]).toEqual({
    system: "a",
    ratings: [10, 20],
    z: [0, 0.25],
    low: [null, -0.25],
    high: [null, 0.75],
  });
  expect(widestOf(bands)).toEqual([null, 1.5]);
});

it("shows some of many rows, the first and the last among them", () => {
  expect(someOf(3, 12)).toEqual([0, 1, 2]);
  expect(someOf(101, 3)).toEqual([0, 50, 100]);
  expect(someOf(0, 3)).toEqual([]);
});

import { expect, test } from "vitest";
import { costTicks, ticksOf } from "../../../src/desk/rehearsal/ticks";

test("numbers on an axis are round, and no more than there is room for", () => {
  expect(ticksOf(2, 200, 8)).toEqual([50, 100, 150, 200]);
  expect(ticksOf(2, 80, 3)).toEqual([50]);
  expect(ticksOf(3, 404, 3)).toEqual([200, 400]);
  expect(ticksOf(2, 9, 8)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
});

test("costs on an axis are short", () => {
  expect(costTicks(20, 1.25)).toBe("25");
  expect(costTicks(3, 1.15)).toBe("3.45");
  expect(costTicks(1_000, 2.5)).toBe("2,500");
});

import { expect, it } from "vitest";
import { axisOf } from "../../src/desk/run/Scores";

const score = (low: number | null, z: number | null, high: number | null) => ({ low, z, high });
const place = (at: string) => Number.parseFloat(at);

it("keeps the outermost ends of the intervals off the edges, and 0 among its ticks", () => {
  const { ticks, at } = axisOf([score(-0.53, -0.21, 0.12), score(0.48, 0.82, 1.16)]);
  expect(ticks).toEqual([-0.5, 0, 0.5, 1]);
  expect(place(at(-0.53))).toBeGreaterThan(4);
  expect(place(at(1.16))).toBeLessThan(96);
});

it("stands where nothing has a score yet, or all have the same", () => {
  expect(axisOf([score(null, null, null)]).ticks).toEqual([0]);
  expect(place(axisOf([score(null, 0, null)]).at(0))).toBe(50);
});

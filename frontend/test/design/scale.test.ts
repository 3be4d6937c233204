import { describe, expect, it } from "vitest";
import { bandOf, gesture, valueAt } from "../../src/design/scale";

describe("slider", () => {
  it("turns a place into a whole number from 0 to 100", () => {
    expect([90, 100, 150.4, 300, 310].map((x) => valueAt(x, 100, 200))).toEqual([0, 0, 25, 100, 100]);
    expect(valueAt(5, 0, 0)).toBe(0);
    expect(valueAt(150, 100, 200, true)).toBe(75);
  });

  it("lies in a band that words can say", () => {
    expect([0, 9, 10, 50, 90, 100].map(bandOf)).toEqual([
      "strongly_disagree",
      "strongly_disagree",
      "disagree",
      "middle",
      "strongly_agree",
      "strongly_agree",
    ]);
    expect(bandOf(null)).toBe("untouched");
  });

  it("tells a drag from a scroll", () => {
    expect(gesture("undecided", 3, 2)).toBe("undecided");
    expect(gesture("undecided", 12, 3)).toBe("drag");
    expect(gesture("undecided", 3, 12)).toBe("ignored");
    expect(gesture("ignored", 40, 12)).toBe("ignored");
    expect(gesture("drag", 12, 80)).toBe("drag");
  });
});

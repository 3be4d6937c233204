import { describe, expect, it } from "vitest";
import { gesture, inWords, valueAt } from "../../src/design/scale";

describe("slider", () => {
  it("turns a place into a whole number from 0 to 100", () => {
    expect([90, 100, 150.4, 300, 310].map((x) => valueAt(x, 100, 200))).toEqual([0, 0, 25, 100, 100]);
    expect(valueAt(5, 0, 0)).toBe(0);
  });

  it("speaks in words without digits", () => {
    const words = Array.from({ length: 101 }, (_, value) => inWords(value));
    expect(words[0]).toBe("strongly disagree");
    expect(words[50]).toBe("in the middle");
    expect(words[100]).toBe("strongly agree");
    expect(words.join()).not.toMatch(/\d/);
    expect(inWords(null)).toBe("not answered yet");
  });

  it("tells a drag from a scroll", () => {
    expect(gesture("undecided", 3, 2)).toBe("undecided");
    expect(gesture("undecided", 12, 3)).toBe("drag");
    expect(gesture("undecided", 3, 12)).toBe("ignored");
    expect(gesture("ignored", 40, 12)).toBe("ignored");
    expect(gesture("drag", 12, 80)).toBe("drag");
  });
});

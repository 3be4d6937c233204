import { expect, it } from "vitest";
import { mustImprove } from "../../src/worker/Improve";

const ASKED = { criterion: "clear", top: 90 };
const TEXT = { context: null, highlight: null, paragraphs: [], text: "A text.", lines: [], topics: [] };

it("asks for an improvement below the top only", () => {
  expect(mustImprove(ASKED, TEXT, { clear: 89 })).toBe(true);
  expect(mustImprove(ASKED, TEXT, { clear: 90 })).toBe(false);
  expect(mustImprove(ASKED, TEXT, { other: 10 })).toBe(false);
});

it("asks for none where there is nothing to improve", () => {
  expect(mustImprove(null, TEXT, { clear: 0 })).toBe(false);
  expect(mustImprove(ASKED, null, { clear: 0 })).toBe(false);
  expect(mustImprove(ASKED, { ...TEXT, text: null }, { clear: 0 })).toBe(false);
});

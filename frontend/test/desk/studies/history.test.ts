import { describe, expect, it } from "vitest";
import {
  type History,
  MOST_STEPS,
  NO_HISTORY,
  redone,
  stepped,
  undone,
} from "../../../src/desk/studies/history";

describe("what can be undone", () => {
  it("goes back step by step, and forward again", () => {
    const written = stepped(stepped(NO_HISTORY, "a"), "b"); // and "c" is shown
    const once = undone(written, "c");
    expect(once).toEqual({ text: "b", history: { past: ["a"], future: ["c"] } });
    const twice = undone(once?.history as History, "b");
    expect(twice).toEqual({ text: "a", history: { past: [], future: ["c", "b"] } });
    expect(redone(twice?.history as History, "a")).toEqual(once);
    expect(redone(once?.history as History, "b")).toEqual({ text: "c", history: written });
  });

  it("has an end on both sides", () => {
    expect(undone(NO_HISTORY, "a")).toBeNull();
    expect(redone(NO_HISTORY, "a")).toBeNull();
  });

  it("is no longer done again once another text was written", () => {
    const once = undone(stepped(NO_HISTORY, "a"), "b") as { text: string; history: History };
    expect(stepped(once.history, once.text)).toEqual({ past: ["a"], future: [] });
  });

  it("has so many steps at most", () => {
    const texts = Array.from({ length: MOST_STEPS + 5 }, (_, number) => String(number));
    const { past } = texts.reduce(stepped, NO_HISTORY);
    expect(past).toEqual(texts.slice(5));
    const future = undone({ past: ["x"], future: texts.slice(0, MOST_STEPS) }, "now")?.history.future;
    expect(future).toEqual([...texts.slice(1, MOST_STEPS), "now"]);
  });
});

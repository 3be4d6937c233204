import { describe, expect, it } from "vitest";
import type { AssignmentRow, RunSummary, RunUpdate } from "../../src/desk/api_types";
import { changedList, changedRun } from "../../src/desk/run/changes";

const row = (assignment: string, inputs = 0) => ({ assignment, inputs }) as AssignmentRow;
const update = (change: Partial<RunUpdate>) =>
  ({ whole: false, workers: [], gone: [], ...change }) as RunUpdate;

describe("a run that is watched", () => {
  const whole = update({ whole: true, run: { run: "r" } as RunSummary, workers: [row("b"), row("a")] });

  it("knows nothing before all of it has come", () => {
    expect(changedRun(null, update({ workers: [row("a")] }))).toBeNull();
  });

  it("takes up what changes and keeps the rest, new workers first", () => {
    const before = changedRun(null, whole);
    const after = changedRun(before, update({ workers: [row("c"), row("a", 2)], gone: ["b"] }));
    expect(after?.workers).toEqual([row("c"), row("a", 2)]);
    expect(after?.run).toBe("r");
  });

  it("forgets what it knew where all of it comes anew", () => {
    const after = changedRun(changedRun(null, whole), update({ whole: true, workers: [row("d")] }));
    expect(after?.workers).toEqual([row("d")]);
  });
});

it("a new run comes first in the list", () => {
  const run = (name: string) => ({ run: name }) as RunSummary;
  const before = changedList(null, { whole: true, runs: [run("a")] });
  expect(changedList(before, { whole: false, runs: [run("b")] })).toEqual([run("b"), run("a")]);
});

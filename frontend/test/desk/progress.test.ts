import { expect, it } from "vitest";
import type { RunSummary } from "../../src/desk/api_types";
import { progressOf, sharesOf } from "../../src/desk/Progress";

const LIMITS: RunSummary["limits"] = {
  target: "",
  places_open: null,
  opens_at: null,
  spent: 48,
  budget: 80,
  currency: "GBP",
  retention: "",
};

function run(part: object): RunSummary {
  const assignments = { active: 3, completed: 12, returned: 0, expired: 0 };
  return {
    assignments,
    status: "open",
    places: 20,
    minutes_to_go: 40,
    limits: LIMITS,
    ...part,
  } as RunSummary;
}

it("says how far a run is, how long it takes, and what it has cost", () => {
  expect(progressOf(run({}))).toBe(
    "12 of 20 submitted, 3 in progress, about 40 min to go, 48.00 of 80.00 GBP spent",
  );
});

it("foretells nothing of a run that has no end, or lets nobody in", () => {
  expect(progressOf(run({ places: null, minutes_to_go: null }))).toContain(
    "12 submitted, 3 in progress, 48.00",
  );
  expect(progressOf(run({ status: "closed" }))).not.toContain("to go");
});

it("says when a run is closed at this hour, and until when", () => {
  const limits = { ...LIMITS, opens_at: "2999-01-01T03:00:00Z" };
  expect(progressOf(run({ limits }))).toMatch(/, outside opening hours until .*2999/);
  expect(progressOf(run({ limits: { ...limits, opens_at: "2001-01-01T03:00:00Z" } }))).not.toContain(
    "outside",
  );
});

it("draws a bar only where there is a target, and never a longer one than the whole", () => {
  expect(sharesOf(run({ places: null }))).toBeNull();
  expect(sharesOf(run({}))).toEqual({ completed: 60, active: 15 });
  expect(sharesOf(run({ places: 10 }))).toEqual({ completed: 80, active: 20 });
  expect(sharesOf(run({ places: 0, assignments: { completed: 0, active: 0 } }))).toEqual({
    completed: 0,
    active: 0,
  });
});

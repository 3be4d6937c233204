import { expect, it } from "vitest";
import { draftOf, endsAtOnce, mistakesIn, OFFICE_HOURS, rulesOf } from "../../src/desk/rules/rules";

const RULES = {
  target: { assignments: null, conversations_per_system: 40, widest_interval: null },
  budget: { total: "500", pay: "3.5000", fee_share: "0.25", currency: "EUR" },
  most_at_once: 12,
  opening_hours: {
    time_zone: "Europe/Berlin",
    hours: [{ days: ["mon" as const], opens: "09:30:00", closes: "18:00:00" }],
  },
  excluded_runs: ["first"],
  excluded_workers: ["p1", "p2"],
};
const NONE = draftOf({}, "UTC");

it("says in a form what the rules are, and sends the same", () => {
  const draft = draftOf(RULES, "UTC");
  expect(draft).toMatchObject({
    end: "conversations_per_system",
    goal: "40",
    pay: "3.5",
    fee: "25",
    workers: "p1\np2",
  });
  expect(mistakesIn(draft)).toEqual({});
  expect(rulesOf(draft)).toEqual({
    ...RULES,
    target: { conversations_per_system: 40 },
    budget: { total: 500, pay: 3.5, fee_share: 0.25, currency: "EUR" },
    opening_hours: {
      time_zone: "Europe/Berlin",
      hours: [{ days: ["mon"], opens: "09:30", closes: "18:00" }],
    },
  });
});

it("limits nothing where nothing is filled in", () => {
  expect(mistakesIn(NONE)).toEqual({});
  expect(rulesOf(NONE)).toEqual({
    target: null,
    budget: null,
    most_at_once: null,
    opening_hours: null,
    excluded_runs: [],
    excluded_workers: [],
  });
});

it("finds what is missing or no number", () => {
  const wrong = {
    ...NONE,
    end: "assignments" as const,
    goal: "1.5",
    total: "100",
    hours: [{ ...OFFICE_HOURS, days: [] }],
  };
  expect(Object.keys(mistakesIn(wrong)).sort()).toEqual(["goal", "hours", "pay"]);
});

it("warns where a run would end at once", () => {
  expect(endsAtOnce({ ...NONE, end: "assignments", goal: "12" }, 12)).toContain("12 assignments");
  expect(endsAtOnce({ ...NONE, end: "assignments", goal: "13" }, 12)).toBeNull();
  // 50 pays for 10 assignments of 4 with a fee of 25 %.
  expect(endsAtOnce({ ...NONE, total: "50", pay: "4", fee: "25" }, 10)).toContain("pays for 10");
  expect(endsAtOnce({ ...NONE, total: "50", pay: "4", fee: "25" }, 9)).toBeNull();
});

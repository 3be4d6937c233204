import { describe, expect, test } from "vitest";
import { judgedOn } from "../../src/worker/answer_kinds";
import type { AnswerForm, CriterionCard } from "../../src/worker/session/protocol";

const form = (kind: AnswerForm["kind"]): AnswerForm => ({
  kind,
  points: null,
  ends: null,
  labels: [],
  choices: [],
  least: null,
  most: null,
  text: null,
  categories: [],
  severities: [],
});
const criterion = (scale: AnswerForm | null): CriterionCard => ({ label: "a", statement: "A.", scale });

describe("what workers judge on", () => {
  test.each([
    ["sliders", [null, form("slider")]],
    ["buttons", [form("likert"), form("choice")]],
    ["scales", [null, form("likert")]],
    ["scales", [form("text")]],
    ["sliders", []],
  ] as const)("%s", (expected, scales) => {
    expect(judgedOn(scales.map(criterion))).toBe(expected);
  });
});

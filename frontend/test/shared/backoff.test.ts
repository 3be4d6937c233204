import { describe, expect, it } from "vitest";
import { backoff } from "../../src/shared/backoff";

describe("backoff", () => {
  it("doubles up to 15 s, with jitter over the upper half", () => {
    expect([0, 1, 2, 10].map((attempt) => backoff(attempt, () => 1))).toEqual([500, 1000, 2000, 15_000]);
    expect([0, 1, 2, 10].map((attempt) => backoff(attempt, () => 0))).toEqual([250, 500, 1000, 7_500]);
  });
});

import { describe, expect, it } from "vitest";
import { problemOf } from "../../../src/worker/session/problem";

describe("problems", () => {
  it("say what can be done, and keep the server's own words", () => {
    expect(problemOf("run_closed")).toEqual({
      code: "run_closed",
      message: null,
      remedy: null,
      againAt: null,
      wayBack: null,
    });
    expect(problemOf("odd", "it is odd", "wait")).toEqual({
      code: "odd",
      message: "It is odd. Wait.",
      remedy: "retry",
      againAt: null,
      wayBack: null,
    });
  });
});

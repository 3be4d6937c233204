import { describe, expect, it } from "vitest";
import { noticeText, problemOf } from "../../../src/worker/session/problem";

describe("problems", () => {
  it("are told in our words where we have some, else in the server's", () => {
    expect(problemOf("run_closed", "x", "y").title).toBe("This study has ended");
    expect(problemOf("odd", "it is odd", "wait")).toMatchObject({
      text: "It is odd. Wait.",
      remedy: "retry",
    });
    expect(problemOf("odd").text).not.toBe("");
    expect(noticeText("anything else")).not.toBe("");
  });
});

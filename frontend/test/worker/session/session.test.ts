import { describe, expect, it } from "vitest";
import { visitorOf } from "../../../src/worker/session/session";

describe("a visitor's address", () => {
  it("names the run and, if at all, the worker", () => {
    expect(visitorOf("/w/demo", "?worker=A1")).toEqual({ run: "demo", worker: "A1" });
    expect(visitorOf("/w/demo/", "")).toEqual({ run: "demo", worker: null });
    expect(visitorOf("/w/two%20words", "?worker=")).toEqual({ run: "two words", worker: null });
    expect(visitorOf("/w/%E0%A4%A", "")).toEqual({ run: "%E0%A4%A", worker: null });
  });
});

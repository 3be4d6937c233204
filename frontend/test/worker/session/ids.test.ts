import { describe, expect, it } from "vitest";
import { newId } from "../../../src/worker/session/ids";

describe("ids", () => {
  it("fit the protocol and differ", () => {
    const ids = Array.from({ length: 100 }, newId);
    expect(new Set(ids).size).toBe(100);
    for (const id of ids) {
      expect(id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    }
  });
});

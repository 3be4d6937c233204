import { describe, expect, it } from "vitest";
import { rootOf } from "../../src/shared/site";

describe("where the server is reached", () => {
  it("is known from where the page's script lies", () => {
    expect(rootOf("/assets/worker-a1.js")).toBe("/");
    expect(rootOf("/candor/assets/worker-a1.js")).toBe("/candor/");
    expect(rootOf("/assets/of/candor/assets/worker-a1.js")).toBe("/assets/of/candor/");
    expect(rootOf("/src/shared/site.ts")).toBe("/");
  });
});

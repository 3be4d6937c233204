import { expect, it } from "vitest";
import { apiAddress } from "../../src/desk/api";

it("puts values into a path, whatever is in them", () => {
  expect(apiAddress("/api/desk/runs", {})).toBe("/api/desk/runs");
  expect(apiAddress("/api/desk/runs/{run}", { run: "a/b c?" })).toBe("/api/desk/runs/a%2Fb%20c%3F");
});

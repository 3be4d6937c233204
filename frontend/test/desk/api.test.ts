import { expect, it } from "vitest";
import { apiAddress, eventOf } from "../../src/desk/api";

it("reads an event, and passes over what only keeps the connection open", () => {
  expect(eventOf('data: {"a":1}\nid: x.2')).toEqual({ id: "x.2", data: '{"a":1}' });
  expect(eventOf(": ping")).toBeNull();
});

it("puts values into a path, whatever is in them", () => {
  expect(apiAddress("/api/desk/runs", {})).toBe("/api/desk/runs");
  expect(apiAddress("/api/desk/runs/{run}", { run: "a/b c?" })).toBe("/api/desk/runs/a%2Fb%20c%3F");
});

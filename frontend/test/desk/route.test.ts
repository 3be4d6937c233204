import { expect, test } from "vitest";
import { addressOf, type Route, routeOf } from "../../src/desk/route";

const ROUTES: [string, Route][] = [
  ["/desk", { page: "runs" }],
  ["/desk/studies", { page: "studies" }],
  ["/desk/studies/my_study", { page: "study", study: "my_study" }],
  ["/desk/studies/my_study/bots", { page: "study", study: "my_study", step: "bots" }],
  ["/desk/people", { page: "people" }],
  ["/desk/audit", { page: "audit" }],
  ["/desk/runs/pilot", { page: "run", run: "pilot" }],
  ["/desk/runs/pilot/report", { page: "report", run: "pilot" }],
  ["/desk/runs/pilot/rehearsal", { page: "rehearsal", run: "pilot" }],
  ["/desk/runs/pilot/workers", { page: "workers", run: "pilot" }],
  ["/desk/runs/pilot/workers/away", { page: "workers", run: "pilot", shown: "away" }],
  ["/desk/runs/pilot/settings", { page: "settings", run: "pilot" }],
  ["/desk/runs/pilot/assignments/a1", { page: "assignment", run: "pilot", assignment: "a1" }],
  ["/desk/runs/pilot/assignments/a1/2", { page: "assignment", run: "pilot", assignment: "a1", part: "2" }],
  ["/desk/runs/a%2Fb%20c", { page: "run", run: "a/b c" }],
];

test.each(ROUTES)("%s is the address of its route, there and back", (address, route) => {
  expect(routeOf(address)).toEqual(route);
  expect(addressOf(route)).toBe(address);
});

test.each(["/desk/", "/desk/runs", "/desk/runs/"])("%s shows the runs", (address) => {
  expect(routeOf(address)).toEqual({ page: "runs" });
});

test("exports stand among the settings, wherever their old address was kept", () => {
  expect(routeOf("/desk/runs/pilot/export")).toEqual({ page: "settings", run: "pilot" });
});

test("an address that was cut within a sign is read as it stands", () => {
  expect(routeOf("/desk/runs/a%2")).toEqual({ page: "run", run: "a%2" });
});

test.each([
  "/desk/nowhere",
  "/desk/people/ada",
  "/desk/studies/a/b",
  "/desk/runs/pilot/nothing",
  "/desk/runs/pilot/assignments",
  "/desk/runs/pilot/report/more",
  "/desk/runs/pilot/workers/away/more",
  "/desk/runs/pilot/assignments/a1/2/more",
])("%s is no page of the desk", (address) => {
  expect(routeOf(address)).toEqual({ page: "unknown", path: address });
});

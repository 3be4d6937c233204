import { expect, it } from "vitest";
import type { RunSummary } from "../../src/desk/api_types";
import { matching, pageEntries, runEntries, workerEntries } from "../../src/desk/palette/entries";

const run = (name: string, title: string) => ({ run: name, title, status: "open" }) as RunSummary;
const names = (entries: { name: string }[]) => entries.map(({ name }) => name);

it("finds places by every word that is typed, those that begin with it first", () => {
  const runs = runEntries([run("spring-pilot", "Tea"), run("pilot", "Tea with an assistant")]);
  expect(names(matching(runs, "pilot"))).toEqual(["pilot", "spring-pilot"]);
  expect(names(matching(runs, "TEA assist"))).toEqual(["pilot"]);
  expect(matching(runs, "coffee")).toEqual([]);
});

it("lists so many of each kind that none hides another", () => {
  const many = runEntries(Array.from({ length: 20 }, (_, k) => run(`run${k}`, "")));
  const pages = pageEntries([{ name: "Runs", page: "runs" }]);
  expect(matching([...many, ...pages], "")).toHaveLength(7);
});

it("leads to what a worker has done", () => {
  const [entry] = workerEntries([{ worker: "W12", run: "pilot", assignment: "a1", study: "tea" }]);
  expect(entry?.to).toEqual({ page: "assignment", run: "pilot", assignment: "a1" });
});

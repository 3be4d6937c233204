import type { AssignmentRow, RunDetail, RunListUpdate, RunSummary, RunUpdate } from "../api_types";

/** A run after a change of it. Assignments stand newest first, in whichever order they have come. */
export function changedRun(before: RunDetail | null, change: RunUpdate): RunDetail | null {
  const { whole, run, workers, gone, ...parts } = change;
  if (!whole && before === null) {
    return null;
  }
  const known = whole ? [] : (before?.workers ?? []);
  const after = { ...before, ...run, ...parts, workers: changedRows(known, workers, new Set(gone)) };
  return after as RunDetail;
}

function changedRows(known: AssignmentRow[], changed: AssignmentRow[], gone: Set<string>): AssignmentRow[] {
  const anew = new Map(changed.map((row) => [row.assignment, row]));
  const kept = known
    .filter((row) => !gone.has(row.assignment))
    .map((row) => {
      const now = anew.get(row.assignment) ?? row;
      anew.delete(row.assignment);
      return now;
    });
  return anew.size === 0 ? kept : [...anew.values(), ...kept].sort(newestFirst);
}

function newestFirst(one: AssignmentRow, other: AssignmentRow): number {
  const [a, b] = [one.started_at ?? "", other.started_at ?? ""];
  return a < b ? 1 : a > b ? -1 : 0;
}

/** The runs after a change in their list. New ones come first. */
export function changedList(before: RunSummary[] | null, change: RunListUpdate): RunSummary[] {
  const anew = new Map(change.runs.map((run) => [run.run, run]));
  const kept = (change.whole ? [] : (before ?? [])).map((run) => {
    const now = anew.get(run.run) ?? run;
    anew.delete(run.run);
    return now;
  });
  return [...anew.values(), ...kept];
}

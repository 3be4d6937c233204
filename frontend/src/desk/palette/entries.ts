import type { RunSummary, StudyList, WorkerHits } from "../api_types";
import type { Place } from "../places";
import type { Route } from "../route";

/** A place of the desk that the palette leads to. */
export interface Entry {
  id: string;
  kind: "Page" | "Run" | "Study" | "Worker";
  name: string;
  /** What tells it from others of that name. */
  about: string;
  to: Route;
}

/** So many of each kind are listed. */
const MOST = 6;

/** The places whose name or description holds every word that is typed, those that begin with it first. */
export function matching(entries: readonly Entry[], typed: string): Entry[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const found = entries.filter(({ name, about }) => {
    const text = `${name} ${about}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const begins = ({ name }: Entry) => Number(name.toLowerCase().startsWith(words[0] ?? ""));
  const ranked = [...found].sort((one, other) => begins(other) - begins(one));
  const listed = new Map<Entry["kind"], number>();
  return ranked.filter(({ kind }) => {
    const before = listed.get(kind) ?? 0;
    listed.set(kind, before + 1);
    return before < MOST;
  });
}

export function pageEntries(places: readonly { name: string; page: Place }[]): Entry[] {
  return places.map(({ name, page }) => ({ id: page, kind: "Page", name, about: "", to: { page } }));
}

export function runEntries(runs: readonly RunSummary[]): Entry[] {
  return runs.map(({ run, title, status }) => ({
    id: `run-${run}`,
    kind: "Run",
    name: run,
    about: `${title} · ${status}`,
    to: { page: "run", run },
  }));
}

export function studyEntries(studies: StudyList["studies"]): Entry[] {
  return studies.map(({ name, title }) => ({
    id: `study-${name}`,
    kind: "Study",
    name,
    about: title,
    to: { page: "study", study: name },
  }));
}

export function workerEntries(workers: WorkerHits["workers"]): Entry[] {
  return workers.map(({ worker, run, assignment }) => ({
    id: `worker-${assignment}`,
    kind: "Worker",
    name: worker,
    about: `in ${run}`,
    to: { page: "assignment", run, assignment },
  }));
}

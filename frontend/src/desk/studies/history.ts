/** The steps that can be undone, and those that were: texts, the nearest one last. */
export interface History {
  past: readonly string[];
  future: readonly string[];
}

/** How many steps can be undone; earlier ones are forgotten. */
export const MOST_STEPS = 200;

export const NO_HISTORY: History = { past: [], future: [] };

/** After `before` has given way to another text: it can be undone, and what was undone before is gone. */
export function stepped({ past }: History, before: string): History {
  return { past: added(past, before), future: [] };
}

/** The step before the text `now`, and what is left of the history then; null where there is none. */
export function undone({ past, future }: History, now: string): { text: string; history: History } | null {
  const text = past.at(-1);
  return text === undefined
    ? null
    : { text, history: { past: past.slice(0, -1), future: added(future, now) } };
}

/** The step that was undone last, and what is left of the history then; null where there is none. */
export function redone({ past, future }: History, now: string): { text: string; history: History } | null {
  const text = future.at(-1);
  return text === undefined
    ? null
    : { text, history: { past: added(past, now), future: future.slice(0, -1) } };
}

function added(steps: readonly string[], text: string): string[] {
  return [...steps, text].slice(-MOST_STEPS);
}

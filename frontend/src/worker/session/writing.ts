import type { Writing } from "./protocol";

/** Under which name it is kept how a line was written that was refused, and goes back to its field. */
export const REFUSED_WRITING = "refused_writing";

/** Nothing is written yet. */
export const UNWRITTEN: Writing = {
  typed: 0,
  composed: 0,
  pasted: 0,
  pastes: 0,
  writing_ms: 0,
  longest_pause_ms: 0,
  away: 0,
  away_ms: 0,
};

/** The protocol's limits: what is more counts as so much. */
export const MAX_CHARACTERS = 100_000;
export const MAX_TIMES = 10_000;
export const MAX_MS = 86_400_000;

const PASTED = new Set(["insertFromPaste", "insertFromPasteAsQuotation", "insertFromDrop", "insertFromYank"]);

/**
 * `written` after a change of the text, `pause` milliseconds after the one before.
 *
 * `inputType`: how the browser calls it (W3C, Input Events Level 2), `insertCompositionText` for all that an input
 * method has done until it was committed. `added`: characters. Who writes Japanese, glides over a phone's keyboard, has
 * a word corrected or speaks, adds several at a time, and has pasted nothing.
 */
export function changed(written: Writing, inputType: string, added: number, pause: number): Writing {
  const counted = {
    ...written,
    writing_ms: written.writing_ms + pause,
    longest_pause_ms: Math.max(written.longest_pause_ms, pause),
  };
  if (added <= 0 || inputType.startsWith("history")) {
    return counted;
  }
  if (PASTED.has(inputType)) {
    return { ...counted, pasted: written.pasted + added, pastes: written.pastes + 1 };
  }
  return added === 1
    ? { ...counted, typed: written.typed + 1 }
    : { ...counted, composed: written.composed + added };
}

/** `written` after the page has had no focus for so long. */
export function cameBack(written: Writing, ms: number): Writing {
  return { ...written, away: written.away + 1, away_ms: written.away_ms + ms };
}

/** What two lines that became one took. */
export function together(one: Writing, other: Writing): Writing {
  return {
    typed: one.typed + other.typed,
    composed: one.composed + other.composed,
    pasted: one.pasted + other.pasted,
    pastes: one.pastes + other.pastes,
    writing_ms: one.writing_ms + other.writing_ms,
    longest_pause_ms: Math.max(one.longest_pause_ms, other.longest_pause_ms),
    away: one.away + other.away,
    away_ms: one.away_ms + other.away_ms,
  };
}

/** The same in whole numbers that the server takes. */
export function told(written: Writing): Writing {
  const whole = (value: number, most: number) => Math.min(most, Math.max(0, Math.round(value)));
  return {
    typed: whole(written.typed, MAX_CHARACTERS),
    composed: whole(written.composed, MAX_CHARACTERS),
    pasted: whole(written.pasted, MAX_CHARACTERS),
    pastes: whole(written.pastes, MAX_TIMES),
    writing_ms: whole(written.writing_ms, MAX_MS),
    longest_pause_ms: whole(written.longest_pause_ms, MAX_MS),
    away: whole(written.away, MAX_TIMES),
    away_ms: whole(written.away_ms, MAX_MS),
  };
}

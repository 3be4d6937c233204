/** A slider's value at a horizontal position of its track: a whole number from 0 to 100. */
export function valueAt(x: number, left: number, width: number): number {
  const share = width > 0 ? (x - left) / width : 0;
  return Math.round(Math.min(1, Math.max(0, share)) * 100);
}

const BANDS: [limit: number, words: string][] = [
  [10, "strongly disagree"],
  [30, "disagree"],
  [45, "towards disagree"],
  [55, "in the middle"],
  [70, "towards agree"],
  [90, "agree"],
  [101, "strongly agree"],
];

/** Words for a slider's value; what a screen reader says instead of a number. `ends`: those of its own. */
export function inWords(value: number | null, ends: readonly string[] | null = null): string {
  if (value === null) {
    return "not answered yet";
  }
  if (ends !== null) {
    return `${value} of 100, from ${ends[0]} to ${ends[1]}`;
  }
  return BANDS.find(([limit]) => value < limit)?.[1] ?? "strongly agree";
}

export type Gesture = "undecided" | "drag" | "ignored";

const SLACK = 7;

/**
 * What a finger that moved by (dx, dy) since it touched a slider is doing: dragging it, or scrolling the
 * page past it.
 */
export function gesture(before: Gesture, dx: number, dy: number): Gesture {
  if (before !== "undecided" || Math.hypot(dx, dy) < SLACK) {
    return before;
  }
  return Math.abs(dx) > Math.abs(dy) ? "drag" : "ignored";
}

/**
 * A slider's value at a horizontal position of its track: a whole number from 0 to 100. `mirrored`: where one reads
 * from right to left, it begins on the right.
 */
export function valueAt(x: number, left: number, width: number, mirrored = false): number {
  const share = width > 0 ? (x - left) / width : 0;
  const value = Math.round(Math.min(1, Math.max(0, share)) * 100);
  return mirrored ? 100 - value : value;
}

/** Where a value lies on the scale, as words can say it. */
export type Band =
  | "untouched"
  | "strongly_disagree"
  | "disagree"
  | "towards_disagree"
  | "middle"
  | "towards_agree"
  | "agree"
  | "strongly_agree";

const BANDS: [limit: number, band: Band][] = [
  [10, "strongly_disagree"],
  [30, "disagree"],
  [45, "towards_disagree"],
  [55, "middle"],
  [70, "towards_agree"],
  [90, "agree"],
];

/** The band of a slider's value; a screen reader says its words instead of a number. */
export function bandOf(value: number | null): Band {
  if (value === null) {
    return "untouched";
  }
  return BANDS.find(([limit]) => value < limit)?.[1] ?? "strongly_agree";
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

import { numberIn } from "../../shared/numbers";

/** What is wrong with a field that has to hold a number from `low` to `high`; undefined where nothing is. */
export function complaintOf(
  text: string,
  low: number,
  high: number,
  { whole = false, needed = false }: { whole?: boolean; needed?: boolean } = {},
): string | undefined {
  const value = numberIn(text);
  if (value === null) {
    return needed ? "Give a number." : undefined;
  }
  if (value === undefined || (whole && !Number.isInteger(value))) {
    return whole ? "Enter a whole number." : "Enter a number.";
  }
  return value < low || value > high ? `Give a number from ${low} to ${high}.` : undefined;
}

/** A size in bytes for a reader. */
export function sizeOf(bytes: number): string {
  return bytes < 1_000_000
    ? `${Math.max(1, Math.round(bytes / 1_000))} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** A share as a percentage. */
export function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}

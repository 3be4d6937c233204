/** The protocol's limits of what a worker types, in characters as people see them. */
export const MAX_SAY = 1_000;
export const MAX_TOPIC = 200;
export const MAX_FEEDBACK = 5_000;
export const MAX_EDIT = 5_000;
export const MAX_NOTE = 500;
export const MAX_ANSWER = 2_000;
/** The most of any text, in code points: a character can have any number of them. */
export const MOST_CODE_POINTS = 7_000;

const segmenter = "Segmenter" in Intl ? new Intl.Segmenter("en") : null;
/** Segmenters copy what they are given for each segment: 1 MB at once would take all memory. */
const WINDOW = 64;

/** Return how many characters somebody sees who reads a text: an emoji of a family is one. Old browsers count code points. */
export function lengthOf(text: string): number {
  if (!segmenter) {
    return [...text].length;
  }
  let [count, start, width] = [0, 0, WINDOW];
  while (start < text.length) {
    // No half of a code point at the end: where characters end depends on what is before, and on the next code point.
    const end = start + width + (/[\ud800-\udbff]/.test(text.charAt(start + width - 1)) ? 1 : 0);
    const starts = Array.from(segmenter.segment(text.slice(start, end)), ({ index }) => index);
    const last = starts.at(-1) ?? 0;
    if (end >= text.length) {
      return count + starts.length;
    }
    if (last > 0) {
      // The last character may go on behind the window.
      count += starts.length - 1;
      start += last;
      width = WINDOW;
    } else {
      width *= 2;
    }
  }
  return count;
}

/** Return how many characters may still be added to a text of at most `most`; below zero: how many are too many. */
export function roomIn(text: string, most: number): number {
  const left = most - lengthOf(text);
  return left < 0 ? left : Math.min(left, MOST_CODE_POINTS - [...text].length);
}

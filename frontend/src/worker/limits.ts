/** The protocol's limits of what a worker types, in characters. */
export const MAX_SAY = 1_000;
export const MAX_TOPIC = 200;
export const MAX_FEEDBACK = 5_000;
export const MAX_EDIT = 5_000;
export const MAX_NOTE = 500;
export const MAX_ANSWER = 2_000;

/** Return how many characters a text has, as the server counts them: an emoji of two UTF-16 units is one. */
export function lengthOf(text: string): number {
  return [...text].length;
}

const FIRST_MS = 500;
const LONGEST_MS = 15_000;

/**
 * Milliseconds to wait before try number `tries` (from 0): doubling up to a limit, with jitter over the
 * upper half, so that a thousand pages do not come back in the same moment.
 */
export function backoff(tries: number, random: () => number = Math.random): number {
  const ceiling = Math.min(FIRST_MS * 2 ** tries, LONGEST_MS);
  return ceiling / 2 + (ceiling / 2) * random();
}

import { compact, inFull } from "./dates";

/** A moment in few letters, or in the words given; in full, with its zone, where the pointer rests on it. */
export function Time({ at, words }: { at: Date; words?: string }) {
  return (
    <time dateTime={at.toISOString()} title={inFull(at)}>
      {words ?? compact(at)}
    </time>
  );
}

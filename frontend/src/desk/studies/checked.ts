import type { MistakeView } from "../api_types";
import { problemsInWords } from "./steps";

/** What the check found, in a few words: "1 field to fill in, 2 problems to fix", "no problems, 1 note". */
export function checkInWords(mistakes: MistakeView[], content: unknown, notes: string[]): string {
  if (mistakes.length > 0) {
    return problemsInWords(mistakes, content);
  }
  return notes.length === 0
    ? "no problems"
    : `no problems, ${notes.length} ${notes.length === 1 ? "note" : "notes"}`;
}

/** A note as pieces, those in `backticks` to be set as code. */
export function piecesOf(note: string): { text: string; code: boolean }[] {
  return note
    .split("`")
    .map((text, index) => ({ text, code: index % 2 === 1 }))
    .filter(({ text }) => text !== "");
}

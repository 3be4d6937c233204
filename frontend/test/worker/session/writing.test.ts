import { describe, expect, it } from "vitest";
import type { Writing } from "../../../src/worker/session/protocol";
import schema from "../../../src/worker/session/protocol.schema.json";
import {
  cameBack,
  changed,
  MAX_CHARACTERS,
  MAX_MS,
  MAX_TIMES,
  together,
  told,
  UNWRITTEN,
} from "../../../src/worker/session/writing";

/** What a line's changes count: [how the browser calls it, characters added, milliseconds since the one before]. */
function counted(...changes: [string, number, number][]): Writing {
  return changes.reduce((written, [type, added, pause]) => changed(written, type, added, pause), UNWRITTEN);
}

describe("what a change of the text counts as", () => {
  it("one character at a time is typed, and the longest pause is kept", () => {
    const written = counted(["insertText", 1, 0], ["insertText", 1, 200], ["insertLineBreak", 1, 900]);
    expect(written).toEqual({ ...UNWRITTEN, typed: 3, writing_ms: 1_100, longest_pause_ms: 900 });
  });

  it.each(["insertFromPaste", "insertFromPasteAsQuotation", "insertFromDrop", "insertFromYank"])(
    "%s is pasted, however short",
    (type) => {
      expect(counted([type, 40, 0], [type, 1, 50])).toMatchObject({ pasted: 41, pastes: 2, typed: 0 });
    },
  );

  it.each([
    ["a word of an input method, such as 東京", "insertCompositionText", 2],
    ["a word that a phone's keyboard suggests", "insertText", 7],
    ["a correction", "insertReplacementText", 3],
    ["a sentence by voice", "insertText", 60],
    ["what the browser has no name for", "", 12],
  ])("%s is composed, never pasted", (_, type, added) => {
    expect(counted([type, added, 0])).toMatchObject({ composed: added, pasted: 0, pastes: 0, typed: 0 });
  });

  it("what is taken out, and what is undone, counts for the rhythm only", () => {
    const written = counted(["deleteContentBackward", -1, 300], ["historyUndo", 30, 200]);
    expect(written).toEqual({ ...UNWRITTEN, writing_ms: 500, longest_pause_ms: 300 });
  });
});

it("a page that comes back has been away once more", () => {
  expect(cameBack(cameBack(UNWRITTEN, 2_000), 500)).toMatchObject({ away: 2, away_ms: 2_500 });
});

it("a refused line and what was written since are one line", () => {
  const first = counted(["insertText", 1, 0], ["insertText", 1, 700]);
  const second = counted(["insertFromPaste", 9, 100]);
  expect(together(first, second)).toEqual({
    ...UNWRITTEN,
    typed: 2,
    pasted: 9,
    pastes: 1,
    writing_ms: 800,
    longest_pause_ms: 700,
  });
});

it("the server is told whole numbers within its limits", () => {
  const wild = { ...UNWRITTEN, typed: 1e9, pastes: 1e9, writing_ms: 10.6, away_ms: 1e12, away: -1 };
  expect(told(wild)).toEqual({
    ...UNWRITTEN,
    typed: MAX_CHARACTERS,
    pastes: MAX_TIMES,
    writing_ms: 11,
    away_ms: MAX_MS,
  });
  const { typed, pastes, away_ms } = schema.$defs.Writing.properties;
  expect([MAX_CHARACTERS, MAX_TIMES, MAX_MS]).toEqual([typed.maximum, pastes.maximum, away_ms.maximum]);
});

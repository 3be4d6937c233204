import { expect, test } from "vitest";
import { markedPieces, piecesOf, withMark, wordsOf } from "../../src/design/marks";

test("words are counted in code points, as the server counts them", () => {
  const words = piecesOf("A 😀 cat sat.", "en").filter(({ isWord }) => isWord);
  expect(words.map(({ start, end, text }) => [start, end, text])).toEqual([
    [0, 1, "A"],
    [2, 3, "😀"],
    [4, 7, "cat"],
    [8, 11, "sat"],
    [11, 12, "."],
  ]);
  expect(wordsOf("A 😀 cat sat.", { start: 2, end: 7 })).toBe("😀 cat");
});

test("a language without blanks has words", () => {
  const words = piecesOf("猫が座った", "ja");
  expect(words.length).toBeGreaterThan(1);
  expect(words.map(({ text }) => text).join("")).toBe("猫が座った");
});

test("marks are in the order of the text, each once", () => {
  const [late, early] = [
    { line: 1, start: 0, end: 3 },
    { line: 0, start: 4, end: 6 },
  ];
  expect(withMark([late], early)).toEqual([early, late]);
  expect(withMark([late], { ...late })).toEqual([late]);
});

test("a text is cut where marks begin and end", () => {
  const [one, other] = [
    { line: 0, start: 2, end: 4 },
    { line: 0, start: 3, end: 5 },
  ];
  expect(markedPieces("a 😀bcd", [one, other])).toEqual([
    { text: "a ", mark: null },
    { text: "😀", mark: one },
    { text: "b", mark: one },
    { text: "c", mark: other },
    { text: "d", mark: null },
  ]);
});

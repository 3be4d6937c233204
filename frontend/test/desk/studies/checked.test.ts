import { describe, expect, it } from "vitest";
import { checkInWords, piecesOf } from "../../../src/desk/studies/checked";

const MISTAKE = { line: 3, path: ["title"], reason: "is missing" };

describe("what a check found", () => {
  it("is said with its notes, which a study with mistakes has none of yet", () => {
    expect(checkInWords([], {}, [])).toBe("no problems");
    expect(checkInWords([], {}, ["No worker can be tested."])).toBe("no problems, 1 note");
    expect(checkInWords([], {}, ["one", "two"])).toBe("no problems, 2 notes");
    expect(checkInWords([MISTAKE, MISTAKE], { title: 5 }, [])).toBe("2 problems to fix");
    expect(checkInWords([MISTAKE], { title: "" }, [])).toBe("1 field to fill in");
  });

  it("shows the settings that a note names as what is written", () => {
    expect(piecesOf("`a: 1` is wrong")).toEqual([
      { text: "a: 1", code: true },
      { text: " is wrong", code: false },
    ]);
    expect(piecesOf("none")).toEqual([{ text: "none", code: false }]);
  });
});

import { describe, expect, it } from "vitest";
import { paragraph, textsOf } from "../../../src/worker/texts/words";

const arabic = textsOf({
  language: "ar",
  direction: "rtl",
  words: {
    "end.few": { one: "رسالة", two: "رسالتان", few: "{n} رسائل", other: "{n} رسالة" },
    "chat.send": "إرسال",
  },
});

describe("texts", () => {
  it("are English where a study has none", () => {
    expect(textsOf(null).say("chat.send")).toBe("Send");
    expect(arabic.say("chat.send")).toBe("إرسال");
    expect(arabic.say("chat.write")).toBe("Write a message");
  });

  it("have the form that the number has in their language", () => {
    expect(textsOf(null).say("end.few", { n: 1 })).toContain("1 more message before");
    expect(textsOf(null).say("end.few", { n: 3 })).toContain("3 more messages before");
    // Arabic: 2 is a dual, 3 to 10 are few, 11 has no form here.
    expect([1, 2, 3, 11].map((n) => arabic.say("end.few", { n }).replace(/\P{L}+/gu, ""))).toEqual([
      "رسالة",
      "رسالتان",
      "رسائل",
      "رسالة",
    ]);
  });

  it("are a paragraph together, with spaces where the writing has them", () => {
    expect(paragraph(["You can’t return.", "Then you rate it."])).toBe("You can’t return. Then you rate it.");
    expect(paragraph(["戻れません。", "次に評価します。"])).toBe("戻れません。次に評価します。");
  });

  it("stress words, not what is put in", () => {
    expect(textsOf(null).pieces("item.topic", { topic: "a ** b" })).toEqual(["Topic: ", "a ** b", ""]);
    expect(textsOf(null).say("instructions.odd")).not.toContain("**");
  });
});

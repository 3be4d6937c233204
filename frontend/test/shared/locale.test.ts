import { expect, it } from "vitest";
import { localeOf } from "../../src/shared/locale";
import { numberIn, typedIn } from "../../src/shared/numbers";
import { textsOf } from "../../src/worker/texts/words";

// A machine's LANG as a browser hands it on, and tags that a study may have though no browser knows them.
const UNKNOWN = ["C", "en-US-u-va-posix@x", "de-12", "de-ab3", ""];

it("takes a tag that a browser knows, and English for any other", () => {
  expect(["de-AT", "zh-Hans", "xx"].map(localeOf)).toEqual(["de-AT", "zh-Hans", "xx"]);
  expect(UNKNOWN.map(localeOf)).toEqual(UNKNOWN.map(() => "en"));
});

it("writes and reads numbers in a language that no browser knows", () => {
  for (const language of UNKNOWN) {
    expect(numberIn("7,5", language)).toBe(7.5);
    expect(typedIn(7.5, language)).toBe("7.5");
    const { say } = textsOf({ language, direction: "ltr", words: { "header.step": "{position} / {n}" } });
    expect(say("header.step" as never, { position: 1200, n: 2 })).toBe("1,200 / 2");
  }
});

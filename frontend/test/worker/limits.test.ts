import { expect, it, vi } from "vitest";
import table from "../../../tests/data/text_lengths.json";
import {
  lengthOf,
  MAX_ANSWER,
  MAX_EDIT,
  MAX_FEEDBACK,
  MAX_NOTE,
  MAX_SAY,
  MAX_TOPIC,
  MOST_CODE_POINTS,
  roomIn,
} from "../../src/worker/limits";
import schema from "../../src/worker/session/protocol.schema.json";

const FAMILY = "👨‍👩‍👧‍👦";

it("what a worker types has the limits of the protocol", () => {
  const { Feedback, Questionnaire, Rate, Report, Say, Topic, TopicChange } = schema.$defs;
  const limits = (most: number) => ({ maxCharacters: most, maxLength: MOST_CODE_POINTS });
  expect(Say.properties.text).toMatchObject(limits(MAX_SAY));
  expect(Topic.properties.text.anyOf[0]).toMatchObject(limits(MAX_TOPIC));
  expect(TopicChange.properties.topic).toMatchObject(limits(MAX_TOPIC));
  expect(Rate.properties.edit.anyOf[0]).toMatchObject(limits(MAX_EDIT));
  expect(Questionnaire.properties.answers.additionalProperties.anyOf[1]).toMatchObject(limits(MAX_ANSWER));
  expect(Feedback.properties.text).toMatchObject(limits(MAX_FEEDBACK));
  expect(Report.properties.note).toMatchObject(limits(MAX_NOTE));
});

it.each(table)("counts characters as the server does: $what", ({ text, characters }) => {
  expect(lengthOf(text)).toBe(characters);
});

it("counts long texts piece by piece as it would count them at once", () => {
  const whole = new Intl.Segmenter("en");
  for (let offset = 0; offset < table.length; offset++) {
    // Each text after each other one, at all places of a window.
    const pieces = table.map((_, at) => table[(at * (offset + 1) + offset) % table.length]?.text ?? "");
    const text = "x".repeat(offset) + pieces.join("");
    expect(lengthOf(text)).toBe([...whole.segment(text)].length);
  }
});

it("counts code points where the browser knows no characters", async () => {
  vi.resetModules();
  vi.stubGlobal("Intl", {});
  const old = await import("../../src/worker/limits");
  vi.unstubAllGlobals();
  expect(old.lengthOf(FAMILY)).toBe(7);
  expect(old.lengthOf("👍".repeat(100))).toBe(100);
});

it("says how much more may be typed", () => {
  expect(roomIn("", MAX_SAY)).toBe(1_000);
  expect(roomIn(FAMILY.repeat(1_000), MAX_SAY)).toBe(0);
  expect(roomIn(FAMILY.repeat(1_001), MAX_SAY)).toBe(-1);
  // One letter under 7,010 marks is 11 code points too many.
  expect(roomIn(`Z${"\u0351".repeat(7_010)}`, MAX_SAY)).toBe(-11);
});

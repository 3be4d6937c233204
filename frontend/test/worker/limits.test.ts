import { expect, it } from "vitest";
import { lengthOf, MAX_ANSWER, MAX_EDIT, MAX_FEEDBACK, MAX_SAY, MAX_TOPIC } from "../../src/worker/limits";
import schema from "../../src/worker/session/protocol.schema.json";

it("what a worker types has the limits of the protocol", () => {
  const { Feedback, Questionnaire, Rate, Say, Topic, TopicChange } = schema.$defs;
  expect(MAX_SAY).toBe(Say.properties.text.maxLength);
  expect(MAX_TOPIC).toBe(Topic.properties.text.anyOf[0]?.maxLength);
  expect(MAX_TOPIC).toBe(TopicChange.properties.topic.maxLength);
  expect(MAX_EDIT).toBe(Rate.properties.edit.anyOf[0]?.maxLength);
  const answers = Questionnaire.properties.answers.additionalProperties.anyOf;
  expect(answers.map((form) => form.maxLength)).toContain(MAX_ANSWER);
  expect(MAX_FEEDBACK).toBe(Feedback.properties.text.maxLength);
});

it("counts characters as the server does, not UTF-16 units", () => {
  expect(lengthOf("👍".repeat(100))).toBe(100);
  expect(lengthOf("é")).toBe(1);
  // A family of four is 4 people and 3 joiners to Python, and 11 units to JavaScript.
  expect(lengthOf("👨‍👩‍👧‍👦".repeat(100))).toBe(700);
});

import { expect, test } from "vitest";
import { messagesIn } from "../../../src/desk/bots/Making";
import { money } from "../../../src/desk/bots/trial";

test("messages are read from requests that have a list of them", () => {
  const messages = [
    { role: "system", content: "Be kind." },
    { role: "user", content: "Hi!" },
  ];
  expect(messagesIn(JSON.stringify({ model: "m", messages }))).toEqual(messages);
  const split = {
    system: "Be kind.",
    messages: [
      { role: "user", content: "Hi!" },
      { role: "user", content: [] },
    ],
  };
  expect(messagesIn(JSON.stringify(split))).toEqual(messages);
  expect([messagesIn("no JSON"), messagesIn("null"), messagesIn("{}")]).toEqual([[], [], []]);
});

test("small costs keep the digits that they need", () => {
  expect([money(0), money(1.234), money(0.000114)]).toEqual(["0.00", "1.23", "0.00011"]);
});

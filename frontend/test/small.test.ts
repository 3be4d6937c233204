import { describe, expect, it } from "vitest";
import { backoff } from "../src/backoff";
import { ago, minutes, moment } from "../src/desk/format";
import { gesture, inWords, valueAt } from "../src/design/scale";
import { newId } from "../src/ids";
import schema from "../src/protocol.schema.json";
import { noticeText, problemOf } from "../src/problem";
import { visitorOf } from "../src/session";
import { Shelf } from "../src/storage";
import { MAX_FEEDBACK, MAX_SAY, MAX_TOPIC } from "../src/worker/limits";
import { MemoryStore } from "./helpers";

describe("backoff", () => {
  it("doubles up to 15 s, with jitter over the upper half", () => {
    expect([0, 1, 2, 10].map((attempt) => backoff(attempt, () => 1))).toEqual([500, 1000, 2000, 15_000]);
    expect([0, 1, 2, 10].map((attempt) => backoff(attempt, () => 0))).toEqual([250, 500, 1000, 7_500]);
  });
});

describe("slider", () => {
  it("turns a place into a whole number from 0 to 100", () => {
    expect([90, 100, 150.4, 300, 310].map((x) => valueAt(x, 100, 200))).toEqual([0, 0, 25, 100, 100]);
    expect(valueAt(5, 0, 0)).toBe(0);
  });

  it("speaks in words without digits", () => {
    const words = Array.from({ length: 101 }, (_, value) => inWords(value));
    expect(words[0]).toBe("strongly disagree");
    expect(words[50]).toBe("in the middle");
    expect(words[100]).toBe("strongly agree");
    expect(words.join()).not.toMatch(/\d/);
    expect(inWords(null)).toBe("not answered yet");
  });

  it("tells a drag from a scroll", () => {
    expect(gesture("undecided", 3, 2)).toBe("undecided");
    expect(gesture("undecided", 12, 3)).toBe("drag");
    expect(gesture("undecided", 3, 12)).toBe("ignored");
    expect(gesture("ignored", 40, 12)).toBe("ignored");
    expect(gesture("drag", 12, 80)).toBe("drag");
  });
});

describe("ids", () => {
  it("fit the protocol and differ", () => {
    const ids = Array.from({ length: 100 }, newId);
    expect(new Set(ids).size).toBe(100);
    ids.forEach((id) => expect(id).toMatch(/^[A-Za-z0-9_-]{1,64}$/));
  });
});

it("what a worker types has the limits of the protocol", () => {
  const { Feedback, Say, Topic, TopicChange } = schema.$defs;
  expect(MAX_SAY).toBe(Say.properties.text.maxLength);
  expect(MAX_TOPIC).toBe(Topic.properties.text.anyOf[0]?.maxLength);
  expect(MAX_TOPIC).toBe(TopicChange.properties.topic.maxLength);
  expect(MAX_FEEDBACK).toBe(Feedback.properties.text.maxLength);
});

describe("a visitor's address", () => {
  it("names the run and, if at all, the worker", () => {
    expect(visitorOf("/w/demo", "?worker=A1")).toEqual({ run: "demo", worker: "A1" });
    expect(visitorOf("/w/demo/", "")).toEqual({ run: "demo", worker: null });
    expect(visitorOf("/w/two%20words", "?worker=")).toEqual({ run: "two words", worker: null });
    expect(visitorOf("/w/%E0%A4%A", "")).toEqual({ run: "%E0%A4%A", worker: null });
  });
});

describe("problems", () => {
  it("are told in our words where we have some, else in the server's", () => {
    expect(problemOf("run_closed", "x", "y").title).toBe("This study has ended");
    expect(problemOf("odd", "it is odd", "wait")).toMatchObject({ text: "It is odd. Wait.", remedy: "retry" });
    expect(problemOf("odd").text).not.toBe("");
    expect(noticeText("anything else")).not.toBe("");
  });
});

describe("a shelf", () => {
  it("keeps values under its prefix and clears only those", () => {
    const store = new MemoryStore();
    const [ours, theirs] = [new Shelf(store, "a:"), new Shelf(store, "b:")];
    ours.set("1:draft", "Hello");
    ours.set("2:draft", "there");
    theirs.set("1:draft", "Bye");
    ours.clear("1:");
    expect([ours.get("1:draft"), ours.get("2:draft"), theirs.get("1:draft")]).toEqual([null, "there", "Bye"]);
  });

  it("is merely forgetful where storage is refused or spoilt", () => {
    const shelf = new Shelf(null, "a:");
    shelf.set("x", 1);
    expect(shelf.get("x")).toBeNull();
    const store = new MemoryStore();
    store.setItem("a:x", "{not JSON");
    expect(new Shelf(store, "a:").get("x")).toBeNull();
  });
});

describe("times on the desk", () => {
  it("are read as UTC", () => {
    expect(moment("2025-01-02T03:04:05").toISOString()).toBe("2025-01-02T03:04:05.000Z");
    expect(moment("2025-01-02T03:04:05+01:00").toISOString()).toBe("2025-01-02T02:04:05.000Z");
  });

  it("are told as ages and lengths", () => {
    const now = new Date("2025-01-02T03:04:05Z");
    expect(ago("2025-01-02T03:03:50", now)).toBe("just now");
    expect(ago("2025-01-02T02:52:05", now)).toBe("12 min ago");
    expect(ago("2024-12-30T02:52:05", now)).toBe("3 d ago");
    expect(ago(null, now)).toBe("–");
    expect(minutes("2025-01-02T03:00:00", "2025-01-02T03:04:30")).toBe("4.5 min");
  });
});

import { describe, expect, it } from "vitest";
import { PrefixedStorage } from "../../../src/shared/storage";
import { adoptVersionOne, versionOneName } from "../../../src/worker/session/version_one";
import { MemoryStorage } from "../../shared/support";
import { say } from "./support";

function setUp(left: Record<string, unknown>, own: Record<string, unknown> = {}) {
  const store = new MemoryStorage();
  const [from, to] = [new PrefixedStorage(store, "one:"), new PrefixedStorage(store, "two:")];
  for (const [key, value] of Object.entries(left)) {
    from.set(key, value);
  }
  for (const [key, value] of Object.entries(own)) {
    to.set(key, value);
  }
  return { store, from, to };
}

describe("what version 1 has kept", () => {
  it("was named by the token without time stamp and signature, whole where it has none", () => {
    expect(versionOneName("IjAxSlFaIg.aSEQ8g.c2lnbmF0dXJl")).toBe("IjAxSlFaIg");
    expect(versionOneName(".eJxTSk.aSEQ8g.c2lnbmF0dXJl")).toBe(".eJxTSk");
    expect(versionOneName("secret")).toBe("secret");
  });

  it.each([
    { type: "topic", id: "a", text: "Tea", opinion: "like" },
    { type: "say", id: "a", turn: 4, text: "Hello" },
    { type: "topic_change", id: "a", how: "no change", topic: "Tea", opinion: "like", bot_opinion: "like" },
    { type: "end_conversation", id: "a" },
    { type: "rate", id: "a", ratings: { fun: 7 } },
  ])("names a conversation's first attempt from now on: $type", (message) => {
    const { from, to } = setUp({ outbox: [{ ...message, k: 3 }] });
    adoptVersionOne(from, to);
    expect(to.get("outbox")).toEqual([{ ...message, conversation: 3, attempt: 1 }]);
    expect(from.keys()).toEqual([]);
  });

  it("that belongs to no conversation stays as it is", () => {
    const messages = [
      { type: "agree", id: "a" },
      { type: "feedback", id: "b", text: "Nice." },
    ];
    const { from, to } = setUp({ outbox: messages });
    adoptVersionOne(from, to);
    expect(to.get("outbox")).toEqual(messages);
  });

  it("comes before what this page keeps, and not twice", () => {
    const own = [say("b", "there", 2), say("c", "you", 4)];
    const left = [
      { type: "say", id: "a", k: 2, turn: 0, text: "Hello" },
      { type: "say", id: "b", k: 2, turn: 2, text: "there" },
    ];
    const { from, to } = setUp(
      { outbox: left, "2:draft": "old", words: "kept" },
      { outbox: own, "2:draft": "new" },
    );
    adoptVersionOne(from, to);
    expect(to.get("outbox")).toEqual([say("a", "Hello", 0), ...own]);
    expect([to.get("2:draft"), to.get("words")]).toEqual(["new", "kept"]);
    expect(from.keys()).toEqual([]);
  });

  it("stays where it is when the browser has no room for it", () => {
    const { store, from, to } = setUp({ "2:draft": "And then" });
    store.setItem = () => {
      throw new Error("full");
    };
    adoptVersionOne(from, to);
    expect(from.get("2:draft")).toBe("And then");
  });

  it("may be spoilt", () => {
    const { from, to } = setUp({ outbox: "what?" });
    adoptVersionOne(from, to);
    expect(to.get("outbox")).toEqual([]);
  });
});

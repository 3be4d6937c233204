import { describe, expect, it } from "vitest";
import type { WorkerMessage } from "../../../src/worker/session/outbox";
import {
  type ChatScreen,
  initial,
  inputsOf,
  isFull,
  lineUnderWay,
  maySpeak,
  reduce,
  reportOf,
  type State,
  topicOf,
  underWay,
} from "../../../src/worker/session/reducer";
import type { ServerMessage } from "../../../src/worker/session/socket";
import { conversation, line, NEXT_ATTEMPT, NOW, say, snapshot, study } from "./support";

function hear(state: State, ...messages: ServerMessage[]): State {
  return messages.reduce((now, message) => reduce(now, { type: "received", message }), state);
}

function send(state: State, message: WorkerMessage): State {
  return reduce(state, { type: "sent", message });
}

function chatOf(state: State): ChatScreen {
  if (state.screen.name !== "chat") {
    throw new Error(`expected the chat, got ${state.screen.name}`);
  }
  return state.screen;
}

function chatting(...turns: string[]): State {
  return hear(
    initial(),
    snapshot({ conversation: conversation(turns.map((text, turn) => line(turn, text))) }),
  );
}

describe("snapshot", () => {
  it.each([
    ["instructions", null],
    ["topic", conversation()],
    ["chat", conversation()],
    ["rating", conversation()],
    ["feedback", null],
    ["done", null],
  ] as const)("draws the %s screen", (phase, card) => {
    expect(hear(initial(), snapshot({ phase, conversation: card })).screen.name).toBe(phase);
  });

  it.each(["expired", "returned"] as const)("draws the end of an assignment that is %s", (phase) => {
    expect(hear(initial(), snapshot({ phase, conversation: null })).screen).toEqual({
      name: "ended",
      how: phase,
      debriefing: null,
      returnTo: null,
      code: null,
    });
  });

  it("knows by the code who has left with a report", () => {
    const left = snapshot({ phase: "returned", conversation: null, code: "R1" });
    expect(hear(initial(), left).screen).toMatchObject({ name: "ended", how: "reported", code: "R1" });
  });

  it("tells who has only had a look from who leaves their work", () => {
    const way = "https://app.prolific.com/submissions/complete?cc=C1";
    const left = { type: "ended", phase: "returned", debriefing: null, return_to: way, code: null } as const;
    const reading = snapshot({ phase: "instructions", conversation: null });
    expect(hear(initial(), reading, left).screen).toEqual({
      name: "ended",
      how: "looked",
      debriefing: null,
      returnTo: way,
      code: null,
    });
    expect(hear(initial(), snapshot(), left).screen).toEqual({
      name: "ended",
      how: "returned",
      debriefing: null,
      returnTo: way,
      code: null,
    });
  });

  it("brings back the turns and whether a reply is due", () => {
    const state = hear(initial(), snapshot({ conversation: conversation([line(0, "Hello")], true) }));
    expect(chatOf(state)).toMatchObject({
      ...NOW,
      topic: "Trains",
      replyDue: true,
      turns: [line(0, "Hello")],
      reports: [],
    });
  });
});

describe("an input", () => {
  it("is shown at once as being sent, and holds further ones", () => {
    const state = send(chatting(), say("a", "Hello", 0));
    expect(lineUnderWay(state, chatOf(state))).toEqual(line(0, "Hello"));
    expect(inputsOf(chatOf(state))).toBe(0);
    expect(maySpeak(state, chatOf(state))).toBe(false);
  });

  it("counts once it is accepted, and a reply is due", () => {
    const state = hear(send(chatting(), say("a", "Hello", 0)), { type: "accepted", id: "a" });
    expect(chatOf(state)).toMatchObject({ turns: [line(0, "Hello")], replyDue: true });
    expect(inputsOf(chatOf(state))).toBe(1);
    expect(lineUnderWay(state, chatOf(state))).toBeNull();
    expect(maySpeak(state, chatOf(state))).toBe(false);
  });

  it("may be followed by another after the reply", () => {
    const state = hear(
      send(chatting(), say("a", "Hello", 0)),
      { type: "accepted", id: "a" },
      { type: "typing", ...NOW },
      { type: "said", ...NOW, turn: 1, text: "Hi!", pace: null },
    );
    expect(chatOf(state).turns).toEqual([line(0, "Hello"), line(1, "Hi!")]);
    expect(maySpeak(state, chatOf(state))).toBe(true);
  });

  it("is not shown twice when a snapshot already holds it", () => {
    // The acknowledgement was lost: after a refresh the outbox still has the input, and so has the server.
    const kept = [say("a", "Hello", 0)];
    const state = hear(initial(kept), snapshot({ conversation: conversation([line(0, "Hello")], true) }));
    expect(lineUnderWay(state, chatOf(state))).toBeNull();
    const after = hear(state, { type: "accepted", id: "a" });
    expect(chatOf(after).turns).toEqual([line(0, "Hello")]);
    expect(chatOf(after).replyDue).toBe(true);
  });

  it("whose reply a snapshot already holds does not make another reply due", () => {
    const turns = [line(0, "Hello"), line(1, "Hi!")];
    const state = hear(initial([say("a", "Hello", 0)]), snapshot({ conversation: conversation(turns) }));
    expect(chatOf(hear(state, { type: "accepted", id: "a" })).replyDue).toBe(false);
  });

  it("is shown as being sent after a refresh when the server never got it", () => {
    const state = hear(initial([say("a", "Hello", 0)]), snapshot());
    expect(lineUnderWay(state, chatOf(state))).toEqual(line(0, "Hello"));
  });

  it("is let go when it is refused", () => {
    const error = {
      type: "error",

      id: "a",
      code: "storage_failed",
      message: "",
      again_at: null,
      way_back: null,
      retry: true,
    } as const;
    const state = hear(send(chatting(), say("a", "Hello", 0)), error);
    expect(state).toMatchObject({ notice: { code: "storage_failed" }, pending: [] });
    expect(maySpeak(state, chatOf(state))).toBe(true);
  });

  it("may not follow the end of the conversation", () => {
    const state = send(chatting("Hello", "Hi!"), { type: "end_conversation", id: "e", ...NOW });
    expect(maySpeak(state, chatOf(state))).toBe(false);
  });
});

it("does not double a reply that a snapshot has and the server sends again", () => {
  const state = chatting("Hello", "Hi!");
  expect(chatOf(hear(state, { type: "said", ...NOW, turn: 1, text: "Hi!", pace: null })).turns).toHaveLength(
    2,
  );
});

describe("the topic", () => {
  const change = {
    type: "topic_change",
    id: "t",
    ...NOW,
    how: "bot change",
    topic: "Bridges",
    opinion: "like",
    bot_opinion: "like",
  } as const satisfies WorkerMessage;

  it("changes on the screen at once and stays so when accepted", () => {
    const sent = send(chatting(), change);
    expect(topicOf(sent, chatOf(sent))).toBe("Bridges");
    const state = hear(sent, { type: "accepted", id: "t" });
    expect(chatOf(state).topic).toBe("Bridges");
  });

  it("goes back when the change is refused", () => {
    const error = {
      type: "error",

      id: "t",
      code: "invalid_field",
      message: "",
      again_at: null,
      way_back: null,
      retry: false,
    } as const;
    const state = hear(send(chatting(), change), error);
    expect(topicOf(state, chatOf(state))).toBe("Trains");
  });
});

// A page that was away may hold what belongs to a conversation that was ended on another device, or to an attempt
// whose chatbot could not go on.
describe.each([
  ["an earlier conversation", { conversation: 1, attempt: 1 }, NOW],
  ["an earlier attempt", NOW, NEXT_ATTEMPT],
])("what is left of %s", (_, before, now) => {
  const left = [
    say("s", "Hello", 0, before),
    {
      type: "topic_change",
      id: "t",
      ...before,
      how: "bot change",
      topic: "Cheese",
      opinion: "like",
      bot_opinion: "like",
    },
    { type: "end_conversation", id: "e", ...before },
  ] satisfies WorkerMessage[];
  const start = hear(initial(left), snapshot({ conversation: conversation([], false, now) }));

  it("holds nothing up in this one while it is on its way", () => {
    expect(topicOf(start, chatOf(start))).toBe("Trains");
    expect(lineUnderWay(start, chatOf(start))).toBeNull();
    expect(maySpeak(start, chatOf(start))).toBe(true);
    expect(
      hear(start, { type: "rating_due", side: null, cut_short: "chatbot", ...now }).screen,
    ).toMatchObject({
      cutShort: "chatbot",
    });
  });

  it("changes nothing in this one when it is accepted", () => {
    const after = hear(start, ...left.map(({ id }, seq) => ({ type: "accepted", seq, id }) as const));
    expect(after.screen).toEqual(start.screen);
    expect(after.pending).toEqual([]);
    expect(maySpeak(after, chatOf(after))).toBe(true);
  });

  it("changes nothing in this one when its chatbot is heard late", () => {
    const after = hear(
      start,
      { type: "typing", ...before },
      { type: "said", ...before, turn: 1, text: "Hi!", pace: null },
    );
    expect(after).toEqual(start);
  });
});

describe("the way through an assignment", () => {
  it("follows the server from the instructions to the end", () => {
    const first = { conversation: 1, attempt: 1 };
    const start = hear(initial(), snapshot({ phase: "instructions", conversation: null }));
    const names = [
      { type: "topic_due", ...first, conversations: 1, icebreaker: null, scenario: null },
      { type: "conversation_started", ...first, conversations: 1, topic: "Tea", scenario: null },
      { type: "rating_due", side: null, cut_short: null, ...first },
      { type: "feedback_due" },
      { type: "completed", code: "ABCD", return_to: null, debriefing: null },
    ] as const satisfies ServerMessage[];
    const seen: string[] = [];
    names.reduce<State>((state, message) => {
      const next = hear(state, message);
      seen.push(next.screen.name);
      return next;
    }, start);
    expect(seen).toEqual(["topic", "chat", "rating", "feedback", "done"]);
  });

  it("tells who has ended a conversation where the worker has not", () => {
    const own = hear(
      send(chatting("Hello", "Hi!"), { type: "end_conversation", id: "e", ...NOW }),
      { type: "rating_due", side: null, cut_short: null, ...NOW },
      { type: "accepted", id: "e" },
    );
    expect(own).toMatchObject({ screen: { name: "rating", ...NOW, cutShort: null }, pending: [] });
    const cut = hear(chatting("Hello"), { type: "rating_due", side: null, cut_short: "researcher", ...NOW });
    expect(cut.screen).toEqual({
      name: "rating",
      ...NOW,
      cutShort: "researcher",
      item: null,
      side: null,
      turns: [line(0, "Hello")],
      reports: [],
    });
  });

  it("takes no line beyond the most that a conversation may have", () => {
    const most = { ...study, maximum_inputs: 2 };
    const chat = (...lines: string[]) => chatOf(chatting(...lines));
    expect(isFull(chat("Hello", "Hi!"), most)).toBe(false);
    expect(isFull(chat("Hello", "Hi!", "Bread?"), most)).toBe(true);
  });

  it("takes what follows from a message before its acknowledgement, too", () => {
    const answered = hear(
      send(chatting(), say("a", "Hello", 0)),
      { type: "typing", ...NOW },
      { type: "said", ...NOW, turn: 1, text: "Hi!", pace: null },
      { type: "accepted", id: "a" },
    );
    expect(chatOf(answered)).toMatchObject({ turns: [line(0, "Hello"), line(1, "Hi!")], replyDue: false });
  });

  it("starts a conversation over when its chatbot is replaced, as the next attempt", () => {
    const failing = hear(chatting("Hello"), { type: "replaced", ...NEXT_ATTEMPT });
    expect(failing.screen).toMatchObject({ name: "chat", ...NOW });
    const replaced = hear(failing, {
      type: "topic_due",

      ...NEXT_ATTEMPT,
      conversations: 6,
      icebreaker: "I like tea.",
      scenario: null,
    });
    expect(replaced.screen).toEqual({
      name: "topic",
      ...NEXT_ATTEMPT,
      icebreaker: "I like tea.",
      scenario: null,
    });
    const begun = hear(replaced, {
      type: "conversation_started",

      ...NEXT_ATTEMPT,
      conversations: 6,
      topic: "Tea",
      scenario: null,
    });
    expect(begun.screen).toMatchObject({ name: "chat", ...NEXT_ATTEMPT, turns: [] });
    const next = { conversation: 3, attempt: 1 };
    const after = hear(
      begun,
      { type: "rating_due", side: null, cut_short: null, ...NEXT_ATTEMPT },
      { type: "topic_due", ...next, conversations: 6, icebreaker: null, scenario: null },
      { type: "conversation_started", ...next, conversations: 6, topic: "Tea", scenario: null },
    );
    expect(after.screen).toMatchObject({ name: "chat", ...next });
  });

  it("asks which of these the partner said, and has nothing of the conversation beside it", () => {
    const quiz = { ...NOW, about: "lines" as const, lines: ["I bake.", "I sail."] };
    const rating = hear(chatting("Hello"), { type: "rating_due", side: null, cut_short: null, ...NOW });
    const asked = hear(rating, { type: "quiz_due", quiz });
    expect(asked.screen).toEqual({ name: "quiz", ...quiz });
    const again = hear(initial(), snapshot({ phase: "quiz", conversation: null, quiz }));
    expect(again.screen).toEqual(asked.screen);
  });

  it.each(["topic", "chat", "rating"] as const)("knows the attempt after a reload, too: %s", (phase) => {
    const card = conversation([], false, NEXT_ATTEMPT);
    expect(hear(initial(), snapshot({ phase, conversation: card })).screen).toMatchObject(NEXT_ATTEMPT);
  });

  it("is drawn anew by a snapshot that comes in between", () => {
    const state = hear(chatting("Hello"), snapshot({ phase: "rating" }));
    expect(state.screen).toMatchObject({ name: "rating", ...NOW });
  });

  it("forgets what was under way when the assignment is over", () => {
    const state = hear(send(chatting(), say("a", "Hello", 0)), {
      type: "ended",
      phase: "expired",
      debriefing: "One was bad on purpose.",
      return_to: null,
      code: null,
    });
    const screen = { name: "ended", how: "expired", debriefing: "One was bad on purpose." };
    expect(state).toMatchObject({ screen, pending: [] });
  });
});

describe("a report", () => {
  const report = { type: "report", id: "r", ...NOW, turn: 1, side: null, reason: "harm", note: "" } as const;
  const card = { turn: 1, side: null, reason: "harm", note: null };

  it("is seen at once, kept once it is stored, and taken back", () => {
    const sent = send(chatting("Hello", "Hi"), { ...report, leave: false });
    expect(reportOf(sent, chatOf(sent), 1, null)).toEqual(card);
    expect(reportOf(sent, chatOf(sent), 3, null)).toBeNull();
    const stored = hear(sent, { type: "accepted", id: "r" });
    expect(chatOf(stored).reports).toEqual([card]);
    const back = send(stored, { type: "take_back_report", id: "b", ...NOW, turn: 1, side: null });
    expect(reportOf(back, chatOf(back), 1, null)).toBeNull();
    expect(chatOf(hear(back, { type: "accepted", id: "b" })).reports).toEqual([]);
  });

  it("is of one side, and stays while the conversation is rated", () => {
    const reports = [{ ...card, reason: "harm" as const, side: "right" as const }];
    const state = hear(initial(), snapshot({ conversation: { ...conversation([], false), reports } }));
    const rating = hear(state, { type: "rating_due", side: "left", cut_short: null, ...NOW }).screen;
    if (rating.name !== "rating") {
      throw new Error(rating.name);
    }
    expect(reportOf(state, rating, 1, "left")).toBeNull();
    expect(reportOf(state, rating, 1, "right")).toEqual(reports[0]);
    expect(reportOf(state, rating, 1, null)).toEqual(reports[0]); // the line that stands for both
  });
});

it("finds the latest message of a kind under way", () => {
  const state = send(send(chatting(), { type: "agree", id: "1" }), { type: "agree", id: "2" });
  expect(underWay(state, "agree")?.id).toBe("2");
  expect(underWay(state, "leave")).toBeNull();
});

it("drops a notice when the worker closes it or does something else", () => {
  const error = {
    type: "error",
    id: null,
    code: "rate_limited",
    message: "",
    retry: true,
    again_at: null,
    way_back: null,
  } as const;
  const told = hear(chatting(), error);
  expect(told.notice).not.toBeNull();
  expect(reduce(told, { type: "dismissed" }).notice).toBeNull();
  expect(send(told, say("a", "Hello", 0)).notice).toBeNull();
});

describe("items that are read and rated", () => {
  const item = { context: null, highlight: null, paragraphs: [], text: "A text.", lines: [], topics: [] };

  it("follow each other without a chat", () => {
    const state = hear(initial(), snapshot({ phase: "instructions", conversation: null }), {
      type: "item_due",
      ...NOW,
      conversations: 20,
      item,
    });
    expect(state.screen).toEqual({
      name: "rating",
      ...NOW,
      cutShort: null,
      item,
      side: null,
      turns: [],
      reports: [],
    });
  });

  it("are there again after a refresh", () => {
    const card = { ...conversation(), item };
    expect(hear(initial(), snapshot({ phase: "rating", conversation: card })).screen).toMatchObject({ item });
  });

  it("come after the test questions", () => {
    const question = { question: 1, questions: 2, text: "A.", asked: "B?", answers: ["C", "D"], why: null };
    const asked = hear(initial(), snapshot({ phase: "tutorial", conversation: null, question }));
    expect(asked.screen).toEqual({ name: "tutorial", question });
    const again = hear(asked, { type: "question_due", question: { ...question, why: "Because." } });
    expect(again.screen).toEqual({ name: "tutorial", question: { ...question, why: "Because." } });
    const right = hear(again, { type: "answer_explained", why: "Because." });
    expect([again.explained, right.explained]).toEqual([null, "Because."]);
    const sent = { type: "sent", message: { type: "answer", id: "a", question: 2, answer: 1 } } as const;
    expect(reduce(right, sent).explained).toBeNull();
  });
});

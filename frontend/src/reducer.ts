import type { Act, Outgoing } from "./outbox";
import type { Snapshot, StudyCard, TurnCard } from "./protocol";
import type { Link, ServerMessage } from "./socket";

/** The screens of an assignment; they follow the server's session phases. */
export type Screen =
  | { name: "loading" }
  | { name: "instructions" }
  | { name: "topic"; k: number; icebreaker: string | null; again: boolean }
  | ChatScreen
  | { name: "rating"; k: number; cutShort: boolean }
  | { name: "feedback" }
  | { name: "done"; code: string | null; returnTo: string | null }
  | { name: "ended"; how: "expired" | "returned" };

/** `replyDue`: the chatbot's answer is on its way. `ending`: the worker has ended this conversation. */
export interface ChatScreen {
  name: "chat";
  k: number;
  topic: string;
  turns: TurnCard[];
  replyDue: boolean;
  ending: boolean;
}

/** A refusal to be told to the worker. `text` is an input that was refused, to be given back. */
export interface Notice {
  key: number;
  code: string;
  text: string | null;
}

export interface State {
  link: Link;
  study: StudyCard | null;
  screen: Screen;
  /** What was sent and has no answer yet. */
  pending: readonly Outgoing[];
  notice: Notice | null;
  /** The conversation whose chatbot could not go on, until its topic is asked for again. */
  replaced: number | null;
}

export type Action =
  | { type: "link"; link: Link }
  | { type: "sent"; outgoing: Outgoing }
  | { type: "received"; message: ServerMessage }
  | { type: "dismissed" };

/** The state before the first word of the server. `pending` is what the outbox kept over a refresh. */
export function initial(pending: readonly Outgoing[] = []): State {
  return { link: "connecting", study: null, screen: { name: "loading" }, pending, notice: null, replaced: null };
}

/** What the page knows after `action`. Pure. */
export function reduce(state: State, action: Action): State {
  switch (action.type) {
    case "link":
      return { ...state, link: action.link };
    case "sent":
      return { ...state, pending: [...state.pending, action.outgoing], notice: null };
    case "dismissed":
      return { ...state, notice: null };
    case "received":
      return received(state, action.message);
  }
}

function received(state: State, message: ServerMessage): State {
  switch (message.type) {
    case "snapshot":
      return { ...state, study: message.study, screen: screenOf(message) };
    case "accepted":
      return accepted(state, message.id);
    case "error":
      return refused(state, message.id, message.code);
    case "topic_due": {
      const { k, icebreaker } = message;
      return { ...state, replaced: null, screen: { name: "topic", k, icebreaker, again: state.replaced === k } };
    }
    case "conversation_started":
      return at(state, {
        name: "chat",
        k: message.k,
        topic: message.topic,
        turns: [],
        replyDue: false,
        ending: false,
      });
    case "typing":
      return inChat(state, (chat) => ({ ...chat, replyDue: true }));
    case "said":
      return inChat(state, (chat) => ({
        ...withTurn(chat, { turn: message.turn, author: "bot", text: message.text }),
        replyDue: false,
      }));
    case "rating_due": {
      const asked =
        state.screen.name !== "chat" || state.screen.ending || underWay(state, "end_conversation") !== null;
      return at(state, { name: "rating", k: message.k, cutShort: !asked });
    }
    case "replaced":
      return { ...state, replaced: message.k };
    case "feedback_due":
      return at(state, { name: "feedback" });
    case "completed":
      return finished(state, { name: "done", code: message.code, returnTo: message.return_to });
    case "ended":
      return finished(state, { name: "ended", how: message.phase });
    case "taken_over":
      return { ...state, link: "taken_over" };
  }
}

function at(state: State, screen: Screen): State {
  return { ...state, screen };
}

function finished(state: State, screen: Screen): State {
  return { ...state, screen, pending: [], notice: null };
}

function inChat(state: State, change: (chat: ChatScreen) => ChatScreen): State {
  return state.screen.name === "chat" ? at(state, change(state.screen)) : state;
}

/** The chat with this line in its place; a line that is already there is not doubled. */
function withTurn(chat: ChatScreen, line: TurnCard): ChatScreen {
  const others = chat.turns.filter(({ turn }) => turn !== line.turn);
  return { ...chat, turns: [...others, line].sort((a, b) => a.turn - b.turn) };
}

function screenOf(snapshot: Snapshot): Screen {
  const { conversation, phase } = snapshot;
  switch (phase) {
    case "instructions":
    case "feedback":
      return { name: phase };
    case "done":
      return { name: "done", code: snapshot.code, returnTo: snapshot.return_to };
    case "expired":
    case "returned":
      return { name: "ended", how: phase };
  }
  if (!conversation) {
    return { name: "loading" };
  }
  const { k, icebreaker, topic, turns, typing } = conversation;
  switch (phase) {
    case "topic":
      return { name: "topic", k, icebreaker, again: false };
    case "chat":
      return { name: "chat", k, topic: topic ?? "", turns, replyDue: typing, ending: false };
    case "rating":
      return { name: "rating", k, cutShort: false };
  }
}

function accepted(state: State, id: string): State {
  const outgoing = state.pending.find(({ message }) => message.id === id);
  if (!outgoing) {
    return state;
  }
  const rest = { ...state, pending: state.pending.filter((other) => other !== outgoing) };
  const { message, place } = outgoing;
  switch (message.type) {
    case "say":
      return inChat(rest, (chat) => {
        if (!place || place.k !== chat.k || chat.turns.some(({ turn }) => turn === place.turn)) {
          return chat;
        }
        const line: TurnCard = { turn: place.turn, author: "worker", text: message.text };
        const answered = chat.turns.some(({ turn }) => turn > place.turn);
        return { ...withTurn(chat, line), replyDue: !answered };
      });
    case "topic_change":
      return inChat(rest, (chat) => ({ ...chat, topic: message.topic }));
    case "end_conversation":
      return inChat(rest, (chat) => ({ ...chat, ending: true }));
    default:
      return rest;
  }
}

function refused(state: State, id: string | null, code: string): State {
  const outgoing = state.pending.find(({ message }) => message.id === id);
  const text = outgoing?.message.type === "say" ? outgoing.message.text : null;
  return {
    ...state,
    pending: state.pending.filter((other) => other !== outgoing),
    notice: { key: (state.notice?.key ?? 0) + 1, code, text },
  };
}

// ---- what screens ask of the state -----------------------------------------------------------

/** The latest message of this kind that is on its way, if there is one. */
export function underWay<T extends Act["type"]>(state: State, type: T): Extract<Act, { type: T }> | null {
  const outgoing = state.pending.findLast(({ message }) => message.type === type);
  return outgoing ? (outgoing.message as Extract<Act, { type: T }>) : null;
}

/** The worker's line that has been sent and is not yet known to be stored. */
export function lineUnderWay(state: State, chat: ChatScreen): TurnCard | null {
  for (const { message, place } of state.pending) {
    const here = message.type === "say" && place?.k === chat.k;
    if (here && !chat.turns.some(({ turn }) => turn === place.turn)) {
      return { turn: place.turn, author: "worker", text: message.text };
    }
  }
  return null;
}

/** The topic as the worker last set it, stored or on its way. */
export function topicOf(state: State, chat: ChatScreen): string {
  return underWay(state, "topic_change")?.topic ?? chat.topic;
}

/** Whether a new line may be sent: nothing of the worker's is on its way and no reply is due. */
export function maySpeak(state: State, chat: ChatScreen): boolean {
  return !chat.replyDue && !chat.ending && underWay(state, "say") === null;
}

/** The worker's lines that count. */
export function inputsOf(chat: ChatScreen): number {
  return chat.turns.filter(({ author }) => author === "worker").length;
}

import type { WorkerMessage } from "./outbox";
import type { Snapshot, StudyCard, TurnCard } from "./protocol";
import type { ConnectionState, ServerMessage } from "./socket";

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

/** `replyDue`: the chatbot's answer is on its way. `again`: it started over with another chatbot. */
export interface ChatScreen {
  name: "chat";
  k: number;
  topic: string;
  turns: TurnCard[];
  replyDue: boolean;
  again: boolean;
}

/** A refusal to be told to the worker. */
export interface Notice {
  key: number;
  code: string;
}

export interface State {
  connection: ConnectionState;
  study: StudyCard | null;
  screen: Screen;
  /** What was sent and has no answer yet. */
  pending: readonly WorkerMessage[];
  notice: Notice | null;
  /** The conversation whose chatbot could not go on, until its topic is asked for again. */
  replaced: number | null;
}

export type Action =
  | { type: "connection"; connection: ConnectionState }
  | { type: "sent"; message: WorkerMessage }
  | { type: "received"; message: ServerMessage }
  | { type: "dismissed" };

/** The state before the first word of the server. `pending` is what the outbox has kept. */
export function initial(pending: readonly WorkerMessage[] = []): State {
  return {
    connection: "connecting",
    study: null,
    screen: { name: "loading" },
    pending,
    notice: null,
    replaced: null,
  };
}

/** What the page knows after `action`. Pure. */
export function reduce(state: State, action: Action): State {
  switch (action.type) {
    case "connection":
      return { ...state, connection: action.connection };
    case "sent":
      return { ...state, pending: [...state.pending, action.message], notice: null };
    case "dismissed":
      return { ...state, notice: null };
    case "received":
      return received(state, action.message);
  }
}

function received(state: State, message: ServerMessage): State {
  switch (message.type) {
    case "snapshot":
      return { ...state, study: message.study, replaced: null, screen: screenOf(message) };
    case "accepted":
      return accepted(state, message.id);
    case "error":
      return refused(state, message.id, message.code);
    case "topic_due": {
      const { k, icebreaker } = message;
      return {
        ...state,
        replaced: null,
        screen: { name: "topic", k, icebreaker, again: state.replaced === k },
      };
    }
    case "conversation_started": {
      const { k, topic } = message;
      const again = state.screen.name === "topic" && state.screen.k === k && state.screen.again;
      return at(state, { name: "chat", k, topic, turns: [], replyDue: false, again });
    }
    case "typing":
      return inChat(state, (chat) => ({ ...chat, replyDue: true }));
    case "said":
      return inChat(state, (chat) => ({
        ...withTurn(chat, { turn: message.turn, author: "bot", text: message.text }),
        replyDue: false,
      }));
    case "rating_due": {
      const { k } = message;
      const cutShort = state.screen.name === "chat" && underWay(state, "end_conversation", k) === null;
      return at(state, { name: "rating", k, cutShort });
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
      return { ...state, connection: "taken_over" };
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
  const { k, again, icebreaker, topic, turns, typing } = conversation;
  switch (phase) {
    case "topic":
      return { name: "topic", k, icebreaker, again };
    case "chat":
      return { name: "chat", k, topic: topic ?? "", turns, replyDue: typing, again };
    case "rating":
      return { name: "rating", k, cutShort: false };
  }
}

function accepted(state: State, id: string): State {
  const message = state.pending.find((other) => other.id === id);
  if (!message) {
    return state;
  }
  const rest = { ...state, pending: state.pending.filter((other) => other !== message) };
  switch (message.type) {
    case "say":
      return inChat(rest, (chat) => {
        if (message.k !== chat.k || chat.turns.some(({ turn }) => turn === message.turn)) {
          return chat;
        }
        const line: TurnCard = { turn: message.turn, author: "worker", text: message.text };
        const answered = chat.turns.some(({ turn }) => turn > message.turn);
        return { ...withTurn(chat, line), replyDue: !answered };
      });
    case "topic_change":
      return inChat(rest, (chat) => (message.k === chat.k ? { ...chat, topic: message.topic } : chat));
    default:
      return rest;
  }
}

function refused(state: State, id: string | null, code: string): State {
  return {
    ...state,
    pending: state.pending.filter((message) => message.id !== id),
    notice: { key: (state.notice?.key ?? 0) + 1, code },
  };
}

// ---- what screens ask of the state -----------------------------------------------------------

/** The latest message of this kind that is on its way, if there is one; with `k`, of that conversation. */
export function underWay<T extends WorkerMessage["type"]>(
  state: State,
  type: T,
  k?: number,
): Extract<WorkerMessage, { type: T }> | null {
  const message = state.pending.findLast(
    (other) => other.type === type && (k === undefined || ("k" in other && other.k === k)),
  );
  return (message as Extract<WorkerMessage, { type: T }> | undefined) ?? null;
}

/** The worker's line that has been sent and is not yet known to be stored. */
export function lineUnderWay(state: State, chat: ChatScreen): TurnCard | null {
  for (const message of state.pending) {
    if (
      message.type === "say" &&
      message.k === chat.k &&
      !chat.turns.some(({ turn }) => turn === message.turn)
    ) {
      return { turn: message.turn, author: "worker", text: message.text };
    }
  }
  return null;
}

/** The topic as the worker last set it, stored or on its way. */
export function topicOf(state: State, chat: ChatScreen): string {
  return underWay(state, "topic_change", chat.k)?.topic ?? chat.topic;
}

/** Whether a new line may be sent: nothing that decides about it is on its way, and no reply is due. */
export function maySpeak(state: State, chat: ChatScreen): boolean {
  const busy = underWay(state, "say", chat.k) ?? underWay(state, "end_conversation", chat.k);
  return !chat.replyDue && busy === null;
}

/** The worker's lines that count. */
export function inputsOf(chat: ChatScreen): number {
  return chat.turns.filter(({ author }) => author === "worker").length;
}

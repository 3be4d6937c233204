import type { WorkerMessage } from "../../../src/worker/session/outbox";
import {
  type ConversationCard,
  PROTOCOL_VERSION,
  type Snapshot,
  type TurnCard,
} from "../../../src/worker/session/protocol";
import type { ConversationName } from "../../../src/worker/session/reducer";
import type { Connection, ServerMessage } from "../../../src/worker/session/socket";

/** A connection of which the test is the other end. */
export class FakeConnection implements Connection {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: (() => void) | null = null;
  closed = false;
  readonly sent: { type: string; id: string }[] = [];

  send(text: string): void {
    this.sent.push(JSON.parse(text) as { type: string; id: string });
  }

  close(): void {
    this.closed = true;
  }

  /** Send messages to the page, in one frame. */
  says(...messages: unknown[]): void {
    this.onmessage?.({ data: JSON.stringify(messages) });
  }

  drops(): void {
    this.onclose?.();
  }

  /** Open it and greet the page. */
  welcomes(message: unknown = snapshot()): void {
    this.onopen?.();
    this.says(message);
  }
}

export function error(id: string | null, code: string, retry = false): ServerMessage {
  return { type: "error", id, code, message: "No.", retry, again_at: null, way_back: null };
}

export const study: Snapshot["study"] = {
  title: "A study",
  payment: "You are paid.",
  task: "chat",
  conversations: 6,
  minimum_inputs: 10,
  maximum_inputs: 100,
  topic_mode: "free",
  rates_all: true,
  criteria: [{ label: "fun", statement: "It was fun.", scale: null }],
  post_edit: null,
  correctness: false,
  comparison: null,
  lab: null,
  display: { markdown: false, streaming: false },
  duration: 40,
  transcript_while_rating: false,
  turn_points: null,
  withdrawal_days: null,
  records_writing: false,
  moderation: "words",
  consent: null,
  contact: null,
  words: null,
  questionnaires: { before: [], conversation: [], after: [] },
};

export function snapshot(changes: Partial<Snapshot> = {}): Snapshot {
  return {
    type: "snapshot",
    protocol: PROTOCOL_VERSION,
    phase: "chat",
    study,
    conversation: conversation(),
    question: null,
    quiz: null,
    code: null,
    return_to: null,
    debriefing: null,
    ...changes,
  };
}

/** Names the conversation that the tests are in, as every message of it does. */
export const NOW = { conversation: 2, attempt: 1 } as const;

/** The same conversation once another chatbot has taken over. */
export const NEXT_ATTEMPT = { conversation: 2, attempt: 2 } as const;

export function conversation(
  turns: TurnCard[] = [],
  typing = false,
  name: ConversationName = NOW,
): ConversationCard {
  const inputs = turns.filter(({ author }) => author === "worker").length;
  const opinions = { opinion: null, bot_opinion: null };
  const said = { topic: "Trains", ...opinions, turns, inputs, typing, choice_due: null, side: null };
  return { ...name, icebreaker: null, ...said, item: null, scenario: null, reports: [] };
}

export function line(turn: number, text: string): TurnCard {
  const author = turn % 2 === 0 ? "worker" : "bot";
  return { turn, author, text, right: null, pace: null, shown_for: null, value: null };
}

export function say(id: string, text: string, turn: number, name: ConversationName = NOW): WorkerMessage {
  return { type: "say", id, ...name, turn, text };
}

import type { WorkerMessage } from "../../../src/worker/session/outbox";
import type { Snapshot, TurnCard } from "../../../src/worker/session/protocol";

export const study: Snapshot["study"] = {
  title: "A study",
  payment: "You are paid.",
  conversations: 6,
  minimum_inputs: 10,
  topic_mode: "free",
  criteria: [{ label: "fun", statement: "It was fun." }],
};

export function snapshot(changes: Partial<Snapshot> = {}): Snapshot {
  return {
    type: "snapshot",
    seq: 1,
    protocol: 1,
    phase: "chat",
    study,
    conversation: conversation(),
    code: null,
    return_to: null,
    ...changes,
  };
}

export function conversation(turns: TurnCard[] = [], typing = false): Snapshot["conversation"] {
  const inputs = turns.filter(({ author }) => author === "worker").length;
  return { k: 2, again: false, icebreaker: null, topic: "Trains", turns, inputs, typing };
}

export function line(turn: number, text: string): TurnCard {
  return { turn, author: turn % 2 === 0 ? "worker" : "bot", text };
}

export function say(id: string, text: string, turn: number, k = 2): WorkerMessage {
  return { type: "say", id, k, turn, text };
}

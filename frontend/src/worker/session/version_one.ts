import type { PrefixedStorage } from "../../shared/storage";
import { OUTBOX, type WorkerMessage } from "./outbox";

// Pages of protocol version 1 named a conversation by its number `k` alone, and kept what they had under a name
// cut out of the session's token. What such a page has left in this browser is taken over here.

/** Return the name under which a page of version 1 kept a session: its token without time stamp and signature. */
export function versionOneName(token: string): string {
  return token.split(".").slice(0, -2).join(".") || token;
}

/**
 * Move drafts and unanswered messages from where a page of version 1 kept them (`from`) to where this one does.
 *
 * A message becomes one of the conversation's first attempt. Where that is wrong, because the page was already in
 * a later attempt, the server refuses it, and its text goes back to the composer; no attempt can be guessed in
 * which it might be stored wrongly. One that was stored without the page's knowing is known to the server by its
 * id. A value of this page's own outranks one that was left.
 */
export function adoptVersionOne(from: PrefixedStorage, to: PrefixedStorage): void {
  for (const key of from.keys()) {
    const left = from.get(key);
    const own = to.get(key);
    const value = key === OUTBOX ? joined(left, own) : (own ?? left);
    if (to.set(key, value)) {
      from.remove(key);
    }
  }
}

function joined(left: unknown, own: unknown): WorkerMessage[] {
  const ours = (own ?? []) as WorkerMessage[];
  const ids = new Set(ours.map(({ id }) => id));
  const theirs = Array.isArray(left) ? left.map(converted) : [];
  return [...theirs.filter(({ id }) => !ids.has(id)), ...ours];
}

function converted(message: { k?: number }): WorkerMessage {
  const { k, ...rest } = message;
  return (k === undefined ? rest : { ...rest, conversation: k, attempt: 1 }) as WorkerMessage;
}

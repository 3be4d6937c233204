import type { PrefixedStorage } from "../../shared/storage";
import type { Wire } from "./protocol";

/** A message that a worker's page sends within a session. */
export type WorkerMessage = Exclude<Wire["client"], { type: "hello" }>;

/** The same before it has an id. */
export type MessageWithoutId = WithoutId<WorkerMessage>;

type WithoutId<M> = M extends WorkerMessage ? Omit<M, "id"> : never;

/** The key under which the messages are kept. */
export const OUTBOX = "outbox";

/**
 * Messages that the server has not answered yet, in order. Outlives the tab. What another tab of the same
 * session keeps there stays.
 */
export class Outbox {
  readonly #storage: PrefixedStorage;
  #waiting: WorkerMessage[];

  constructor(storage: PrefixedStorage) {
    this.#storage = storage;
    this.#waiting = this.#kept();
  }

  get waiting(): readonly WorkerMessage[] {
    return this.#waiting;
  }

  add(message: WorkerMessage): void {
    this.#waiting = [...this.#waiting, message];
    this.#keep([...this.#kept(), message]);
  }

  remove(id: string): void {
    this.#waiting = this.#waiting.filter((message) => message.id !== id);
    this.#keep(this.#kept().filter((message) => message.id !== id));
  }

  clear(): void {
    this.#waiting = [];
    this.#keep([]);
  }

  #kept(): WorkerMessage[] {
    return this.#storage.get<WorkerMessage[]>(OUTBOX) ?? [];
  }

  #keep(messages: WorkerMessage[]): void {
    if (messages.length > 0) {
      this.#storage.set(OUTBOX, messages);
    } else {
      this.#storage.remove(OUTBOX);
    }
  }
}

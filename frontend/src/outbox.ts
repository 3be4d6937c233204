import type { Wire } from "./protocol";
import type { Shelf } from "./storage";

/** A message that a worker's page sends within a session. */
export type Act = Exclude<Wire["client"], { type: "hello" }>;

/** The same before it has an id. */
export type Deed = WithoutId<Act>;

type WithoutId<A> = A extends Act ? Omit<A, "id"> : never;

/** Where a line belongs: conversation `k`, line number `turn`. */
export interface Place {
  k: number;
  turn: number;
}

/** A message on its way. `place` is set for inputs, to tell whether a snapshot already holds them. */
export interface Outgoing {
  message: Act;
  place: Place | null;
}

const KEY = "outbox";

/** Messages that the server has not answered yet, in order. Outlives a refresh of the page. */
export class Outbox {
  readonly #shelf: Shelf;
  #waiting: Outgoing[];

  constructor(shelf: Shelf) {
    this.#shelf = shelf;
    this.#waiting = shelf.get<Outgoing[]>(KEY) ?? [];
  }

  get waiting(): readonly Outgoing[] {
    return this.#waiting;
  }

  add(outgoing: Outgoing): void {
    this.#waiting = [...this.#waiting, outgoing];
    this.#keep();
  }

  remove(id: string): void {
    this.#waiting = this.#waiting.filter(({ message }) => message.id !== id);
    this.#keep();
  }

  clear(): void {
    this.#waiting = [];
    this.#keep();
  }

  #keep(): void {
    if (this.#waiting.length > 0) {
      this.#shelf.set(KEY, this.#waiting);
    } else {
      this.#shelf.remove(KEY);
    }
  }
}

import type { Wire } from "./protocol";
import type { Shelf } from "./storage";

/** A message that a worker's page sends within a session. */
export type Act = Exclude<Wire["client"], { type: "hello" }>;

/** The same before it has an id. */
export type Deed = WithoutId<Act>;

type WithoutId<A> = A extends Act ? Omit<A, "id"> : never;

const KEY = "outbox";

/**
 * Messages that the server has not answered yet, in order. Outlives the tab. What another tab of the same
 * session keeps on the shelf stays there.
 */
export class Outbox {
  readonly #shelf: Shelf;
  #waiting: Act[];

  constructor(shelf: Shelf) {
    this.#shelf = shelf;
    this.#waiting = this.#kept();
  }

  get waiting(): readonly Act[] {
    return this.#waiting;
  }

  add(act: Act): void {
    this.#waiting = [...this.#waiting, act];
    this.#keep([...this.#kept(), act]);
  }

  remove(id: string): void {
    this.#waiting = this.#waiting.filter((act) => act.id !== id);
    this.#keep(this.#kept().filter((act) => act.id !== id));
  }

  clear(): void {
    this.#waiting = [];
    this.#keep([]);
  }

  #kept(): Act[] {
    return this.#shelf.get<Act[]>(KEY) ?? [];
  }

  #keep(acts: Act[]): void {
    if (acts.length > 0) {
      this.#shelf.set(KEY, acts);
    } else {
      this.#shelf.remove(KEY);
    }
  }
}

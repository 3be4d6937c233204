import { backoff } from "./backoff";
import { newId } from "./ids";
import type { Outbox, Outgoing } from "./outbox";
import type { Wire } from "./protocol";

export type ServerMessage = Wire["server"];

/** How the connection stands. `lost`: it was there, or was tried, and is being tried again. */
export type Link = "connecting" | "open" | "lost" | "taken_over" | "closed";

/** The part of a browser's WebSocket that is used here. */
export interface Wireline {
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: (() => void) | null;
  send(text: string): void;
  close(): void;
}

export interface SocketOptions {
  connect: () => Wireline;
  token: string;
  outbox: Outbox;
  onMessage: (message: ServerMessage) => void;
  onLink: (link: Link) => void;
  /** The session cannot be opened with this token; nothing is tried again. */
  onRefused: (code: string, message: string) => void;
  random?: () => number;
}

const WELCOME_MS = 10_000;
const ANSWER_MS = 12_000;
const RESENDS = 5;
const FIRST_RESEND_MS = 1_000;
const REFUSING = new Set(["token_invalid", "token_expired", "token_missing"]);
const FINISHED = new Set(["done", "expired", "returned"]);

type Timer = ReturnType<typeof setTimeout>;

/**
 * A session's connection: opens it, keeps it open, and sees every message of the outbox answered.
 *
 * A message stays in the outbox until it is accepted or refused. On every new connection, once the
 * snapshot has come, each is sent once more with the id that it had. A refusal that allows for a later try
 * is tried again a few times before it counts.
 */
export class Socket {
  readonly #options: SocketOptions;
  #line: Wireline | null = null;
  #helloId = "";
  #welcomed = false;
  #stopped = true;
  #attempt = 0;
  #reconnect: Timer | undefined;
  #welcome: Timer | undefined;
  #answers = new Map<string, Timer>();
  #resends = new Map<string, number>();

  constructor(options: SocketOptions) {
    this.#options = options;
  }

  /** Open the connection. Also takes the session back after `taken_over`. */
  start(): void {
    this.#stopped = false;
    this.#attempt = 0;
    this.#options.onLink("connecting");
    this.#open();
  }

  /** Close it for good. */
  stop(link: Link = "closed"): void {
    this.#stopped = true;
    clearTimeout(this.#reconnect);
    this.#hangUp();
    this.#options.onLink(link);
  }

  /** Take charge of a message: it is sent now, or as soon as there is a connection. */
  send(outgoing: Outgoing): void {
    this.#options.outbox.add(outgoing);
    if (this.#welcomed) {
      this.#transmit(outgoing);
    }
  }

  /** There is reason to hope for a connection: try at once instead of waiting. */
  wake(): void {
    if (!this.#stopped && !this.#line) {
      this.#attempt = 0;
      this.#open();
    }
  }

  /** The connection may be dead without having said so: replace it. */
  recycle(): void {
    if (!this.#stopped) {
      this.#attempt = 0;
      this.#options.onLink("lost");
      this.#open();
    }
  }

  #open(): void {
    clearTimeout(this.#reconnect);
    this.#hangUp();
    const line = this.#options.connect();
    this.#line = line;
    this.#helloId = newId();
    this.#welcome = setTimeout(() => this.#dropped(), WELCOME_MS);
    line.onopen = () => {
      line.send(JSON.stringify({ type: "hello", id: this.#helloId, token: this.#options.token }));
    };
    line.onmessage = ({ data }) => {
      const message = read(data);
      if (message) {
        this.#receive(message);
      }
    };
    line.onclose = () => this.#dropped();
  }

  #hangUp(): void {
    clearTimeout(this.#welcome);
    this.#answers.forEach(clearTimeout);
    this.#answers.clear();
    this.#welcomed = false;
    const line = this.#line;
    this.#line = null;
    if (line) {
      line.onopen = line.onmessage = line.onclose = null;
      line.close();
    }
  }

  #dropped(): void {
    this.#hangUp();
    if (this.#stopped) {
      return;
    }
    this.#options.onLink("lost");
    this.#reconnect = setTimeout(() => this.#open(), backoff(this.#attempt, this.#options.random));
    this.#attempt += 1;
  }

  #transmit(outgoing: Outgoing): void {
    const { id } = outgoing.message;
    clearTimeout(this.#answers.get(id));
    this.#answers.set(
      id,
      setTimeout(() => this.#dropped(), ANSWER_MS),
    );
    this.#line?.send(JSON.stringify(outgoing.message));
  }

  #receive(message: ServerMessage): void {
    switch (message.type) {
      case "snapshot":
        this.#welcomeIn(message);
        return;
      case "accepted":
        this.#answered(message.id);
        break;
      case "error":
        if (this.#refused(message)) {
          return;
        }
        break;
      case "taken_over":
        this.stop("taken_over");
        return;
      case "completed":
      case "ended":
        this.#options.onMessage(message);
        this.#finish();
        return;
    }
    this.#options.onMessage(message);
  }

  #welcomeIn(message: Extract<ServerMessage, { type: "snapshot" }>): void {
    clearTimeout(this.#welcome);
    this.#attempt = 0;
    this.#welcomed = true;
    this.#options.onMessage(message);
    if (FINISHED.has(message.phase)) {
      this.#finish();
      return;
    }
    this.#options.onLink("open");
    this.#options.outbox.waiting.forEach((outgoing) => this.#transmit(outgoing));
  }

  #finish(): void {
    this.#options.outbox.clear();
    this.stop("closed");
  }

  #answered(id: string): void {
    clearTimeout(this.#answers.get(id));
    this.#answers.delete(id);
    this.#resends.delete(id);
    this.#options.outbox.remove(id);
  }

  /** Deal with a refusal; returns whether nobody else need hear of it. */
  #refused(error: Extract<ServerMessage, { type: "error" }>): boolean {
    if (REFUSING.has(error.code) || (!this.#welcomed && !error.retry)) {
      this.stop("closed");
      this.#options.onRefused(error.code, error.message);
      return true;
    }
    if (!this.#welcomed) {
      // The server hangs up now; the next try may fare better.
      return true;
    }
    if (error.id === null) {
      return false;
    }
    const tries = this.#resends.get(error.id) ?? 0;
    const outgoing = this.#options.outbox.waiting.find(({ message }) => message.id === error.id);
    if (!error.retry || !outgoing || tries >= RESENDS) {
      this.#answered(error.id);
      return false;
    }
    this.#resends.set(error.id, tries + 1);
    clearTimeout(this.#answers.get(error.id));
    this.#answers.set(
      error.id,
      setTimeout(() => this.#transmit(outgoing), FIRST_RESEND_MS * 2 ** tries),
    );
    return true;
  }
}

function read(data: unknown): ServerMessage | null {
  try {
    const message: unknown = JSON.parse(String(data));
    return message !== null && typeof message === "object" && "type" in message
      ? (message as ServerMessage)
      : null;
  } catch {
    return null;
  }
}

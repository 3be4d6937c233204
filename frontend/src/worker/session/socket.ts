import { backoff } from "../../shared/backoff";
import { newId } from "./ids";
import type { Outbox, WorkerMessage } from "./outbox";
import { PROTOCOL_VERSION, type Wire } from "./protocol";

export type ServerMessage = Wire["server"];

/** How the connection stands. `lost`: it was there, or was tried, and is being tried again. */
export type ConnectionState = "connecting" | "open" | "lost" | "taken_over" | "closed";

/** The part of a browser's WebSocket that is used here. */
export interface Connection {
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: (() => void) | null;
  send(text: string): void;
  close(): void;
}

export interface SocketOptions {
  connect: () => Connection;
  token: string;
  outbox: Outbox;
  onMessage: (message: ServerMessage) => void;
  onConnection: (state: ConnectionState) => void;
  /** So many connections one after the other have ended, or come to nothing, before they were open. */
  onUnopened: (times: number) => void;
  /** The session cannot be opened with this token or by this page; nothing is tried again. */
  onRefused: (code: string, message: string) => void;
  random?: () => number;
}

const WELCOME_MS = 10_000;
const ANSWER_MS = 12_000;
const REPLY_MS = 25_000;
const CALM_MS = 10_000;
const RESENDS = 5;
const FIRST_RESEND_MS = 1_000;
const FINISHED = new Set(["done", "expired", "returned"]);

type Timer = ReturnType<typeof setTimeout>;

/**
 * A session's connection: opens it, keeps it open, and sees every message of the outbox answered.
 *
 * A message stays in the outbox until it is accepted or refused. On every new connection, once the
 * snapshot has come, each is sent once more with the id that it had. A refusal that allows for a later try
 * is tried again a few times before it counts. A message from another phase than the server's shows that
 * the page is behind: it connects anew for a fresh snapshot.
 *
 * The pauses between tries grow until a message was accepted or a connection has lasted a while: a server
 * that greets and then answers everything with errors is left in peace.
 */
export class Socket {
  readonly #options: SocketOptions;
  #connection: Connection | null = null;
  #welcomed = false;
  #stopped = true;
  #tries = 0;
  #unopened = 0;
  #reconnect: Timer | undefined;
  #welcome: Timer | undefined;
  #calm: Timer | undefined;
  #silence: Timer | undefined;
  #replyDue = false;
  #answers = new Map<string, Timer>();
  #resends = new Map<string, number>();

  constructor(options: SocketOptions) {
    this.#options = options;
  }

  /** Open the connection. Also takes the session back after `taken_over`. */
  start(): void {
    this.#stopped = false;
    this.#tries = 0;
    this.#options.onConnection("connecting");
    this.#connect();
  }

  /** Close it for good. */
  stop(state: ConnectionState = "closed"): void {
    this.#stopped = true;
    clearTimeout(this.#reconnect);
    this.#disconnect();
    this.#options.onConnection(state);
  }

  /** Take charge of a message: it is sent now, or as soon as there is a connection. */
  send(message: WorkerMessage): void {
    this.#options.outbox.add(message);
    if (this.#welcomed) {
      this.#transmit(message);
    }
  }

  /** There is reason to hope for a connection: try at once instead of waiting. */
  wake(): void {
    if (!this.#stopped && !this.#connection) {
      this.#tries = 0;
      this.#connect();
    }
  }

  /** The connection may be dead without having said so: replace it. */
  recycle(): void {
    if (!this.#stopped) {
      this.#tries = 0;
      this.#options.onConnection("lost");
      this.#connect();
    }
  }

  #connect(): void {
    clearTimeout(this.#reconnect);
    this.#disconnect();
    this.#unopened += 1;
    const connection = this.#options.connect();
    this.#connection = connection;
    this.#welcome = setTimeout(() => this.#dropped(), WELCOME_MS);
    connection.onopen = () => {
      this.#unopened = 0;
      const { token } = this.#options;
      connection.send(JSON.stringify({ type: "hello", id: newId(), token, protocol: PROTOCOL_VERSION }));
    };
    connection.onmessage = ({ data }) => {
      for (const message of read(data)) {
        if (this.#connection === connection) {
          this.#receive(message);
        }
      }
    };
    connection.onclose = () => this.#dropped();
  }

  #disconnect(): void {
    clearTimeout(this.#welcome);
    clearTimeout(this.#calm);
    clearTimeout(this.#silence);
    this.#answers.forEach(clearTimeout);
    this.#answers.clear();
    this.#welcomed = false;
    const connection = this.#connection;
    this.#connection = null;
    if (connection) {
      connection.onopen = connection.onmessage = connection.onclose = null;
      connection.close();
    }
  }

  #dropped(state: ConnectionState = "lost"): void {
    this.#disconnect();
    if (this.#stopped) {
      return;
    }
    this.#options.onConnection(state);
    if (this.#unopened > 0) {
      this.#options.onUnopened(this.#unopened);
    }
    this.#reconnect = setTimeout(() => this.#connect(), backoff(this.#tries, this.#options.random));
    this.#tries += 1;
  }

  #transmit(message: WorkerMessage): void {
    this.#unlessAnswered(message.id, ANSWER_MS, () => this.#dropped());
    this.#connection?.send(JSON.stringify(message));
  }

  /** Do `act` after so long, unless the message is answered or sent again before. */
  #unlessAnswered(id: string, ms: number, act: () => void): void {
    clearTimeout(this.#answers.get(id));
    this.#answers.set(id, setTimeout(act, ms));
  }

  #receive(message: ServerMessage): void {
    this.#listenFor(message);
    if (message.type === "accepted") {
      this.#tries = 0;
      this.#answered(message.id);
    }
    if (message.type === "taken_over") {
      this.stop("taken_over");
      return;
    }
    if (message.type === "error" && this.#refused(message)) {
      return;
    }
    this.#options.onMessage(message);
    if (isLast(message)) {
      this.#options.outbox.clear();
      this.stop("closed");
    } else if (message.type === "snapshot" && !this.#welcomed) {
      this.#opened();
    } else if (message.type === "error" && message.code === "wrong_phase") {
      this.#dropped("connecting");
    }
  }

  #opened(): void {
    clearTimeout(this.#welcome);
    this.#calm = setTimeout(() => (this.#tries = 0), CALM_MS);
    this.#welcomed = true;
    this.#options.onConnection("open");
    for (const message of this.#options.outbox.waiting) {
      this.#transmit(message);
    }
  }

  /** A connection on which a reply is due and nothing comes may be dead without having said so. */
  #listenFor(message: ServerMessage): void {
    if (message.type === "snapshot") {
      this.#replyDue = message.conversation?.typing ?? false;
    } else if (message.type !== "accepted" && message.type !== "error") {
      this.#replyDue = message.type === "typing";
    }
    clearTimeout(this.#silence);
    if (this.#replyDue) {
      this.#silence = setTimeout(() => this.#dropped("connecting"), REPLY_MS);
    }
  }

  #answered(id: string): void {
    clearTimeout(this.#answers.get(id));
    this.#answers.delete(id);
    this.#resends.delete(id);
    this.#options.outbox.remove(id);
  }

  /** Deal with a refusal; returns whether nobody else need hear of it. */
  #refused(error: Extract<ServerMessage, { type: "error" }>): boolean {
    if (!this.#welcomed) {
      // The server hangs up now; the next try may fare better, if it says so.
      if (!error.retry) {
        this.stop("closed");
        this.#options.onRefused(error.code, error.message);
      }
      return true;
    }
    if (error.id === null) {
      return false;
    }
    const tries = this.#resends.get(error.id) ?? 0;
    const message = this.#options.outbox.waiting.find(({ id }) => id === error.id);
    if (!error.retry || !message || tries >= RESENDS) {
      this.#answered(error.id);
      return false;
    }
    this.#resends.set(error.id, tries + 1);
    this.#unlessAnswered(error.id, FIRST_RESEND_MS * 2 ** tries, () => this.#transmit(message));
    return true;
  }
}

/** Whether nothing more can come: the assignment is over. */
export function isLast(message: ServerMessage): boolean {
  return (
    message.type === "completed" ||
    message.type === "ended" ||
    (message.type === "snapshot" && FINISHED.has(message.phase))
  );
}

/** The messages of a frame: an array of them, or one by itself, as the server answers pages of any version. */
function read(data: unknown): ServerMessage[] {
  try {
    const frame: unknown = JSON.parse(String(data));
    return (Array.isArray(frame) ? frame : [frame]).filter(isMessage);
  } catch {
    return [];
  }
}

function isMessage(value: unknown): value is ServerMessage {
  return value !== null && typeof value === "object" && "type" in value;
}

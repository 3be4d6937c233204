import { inLocalStorage, PrefixedStorage } from "../../shared/storage";
import { backoff } from "./backoff";
import { newId } from "./ids";
import { type JoinResult, join } from "./join";
import { type MessageWithoutId, Outbox, type WorkerMessage } from "./outbox";
import { type Problem, problemOf } from "./problem";
import { type Action, initial, reduce, type State } from "./reducer";
import { type Connection, isLast, type ServerMessage, Socket } from "./socket";
import { watch } from "./waking";

/** Whose page this is, as the address says. */
export interface Visitor {
  run: string;
  worker: string | null;
}

/** Read the visitor from an address like `/w/demo?worker=A1`. */
export function visitorOf(path: string, query: string): Visitor {
  const slug = path.split("/").filter(Boolean).at(-1) ?? "";
  return { run: decoded(slug), worker: new URLSearchParams(query).get("worker") || null };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const TOKEN = "token";
const REFUSED_TEXT = "words";

/**
 * A worker's session as the page holds it: joins, keeps the state, and lends the screens what they need.
 * `drafts` keeps what was typed or set and not yet sent.
 */
export class Session {
  readonly #visitor: Visitor;
  readonly #tokens: PrefixedStorage;
  readonly #listeners = new Set<() => void>();
  #state: State = initial();
  #problem: Problem | null = null;
  #drafts = new PrefixedStorage(null, "");
  #socket: Socket | null = null;
  #tries = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(visitor: Visitor) {
    this.#visitor = visitor;
    this.#tokens = inLocalStorage(`candor:${visitor.run}:${visitor.worker ?? ""}:`);
  }

  get state(): State {
    return this.#state;
  }

  get problem(): Problem | null {
    return this.#problem;
  }

  get drafts(): PrefixedStorage {
    return this.#drafts;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Join the run and open the session. */
  async open(): Promise<void> {
    clearTimeout(this.#retry);
    const joined = await this.#join();
    if (joined.ok) {
      this.#tries = 0;
      this.#problem = null;
      this.#connect(joined.token, joined.socket);
    } else {
      this.#show(joined.problem);
      if (joined.code === "unreachable") {
        this.#retry = setTimeout(() => void this.open(), backoff(this.#tries));
        this.#tries += 1;
      }
    }
  }

  /** One tab at a time, so that two opened at the same moment come to one and the same session. */
  async #join(): Promise<JoinResult> {
    const joinNow = async () => {
      const joined = await join({ ...this.#visitor, token: this.#tokens.get<string>(TOKEN) });
      if (joined.ok) {
        this.#tokens.set(TOKEN, joined.token);
      }
      return joined;
    };
    // Plain http pages have no locks.
    const locks = navigator.locks as LockManager | undefined;
    return locks ? locks.request(`candor:${this.#visitor.run}:join`, joinNow) : joinNow();
  }

  /** Forget the session that this browser remembers and join anew. */
  startAnew(): void {
    this.#tokens.remove(TOKEN);
    window.location.reload();
  }

  /** Take the session back from another tab. */
  takeBack(): void {
    this.#socket?.start();
  }

  dismiss(): void {
    this.#dispatch({ type: "dismissed" });
  }

  /** Send what the worker did. */
  send(content: MessageWithoutId): void {
    const message = { ...content, id: newId() } as WorkerMessage;
    this.#dispatch({ type: "sent", message });
    this.#socket?.send(message);
  }

  /** The text of inputs that were refused. They are given back once. */
  takeRefusedText(): string {
    const text = this.#drafts.get<string>(REFUSED_TEXT) ?? "";
    this.#drafts.remove(REFUSED_TEXT);
    return text;
  }

  #connect(token: string, path: string): void {
    this.#drafts = inLocalStorage(`candor:${assignmentOf(token)}:`);
    const outbox = new Outbox(this.#drafts);
    this.#state = initial(outbox.waiting);
    const socket = new Socket({
      connect: () => new WebSocket(new URL(path, window.location.href.replace(/^http/, "ws"))) as Connection,
      token,
      outbox,
      onMessage: (message) => this.#receive(message),
      onConnection: (connection) => this.#dispatch({ type: "connection", connection }),
      onRefused: (code, message) => this.#show(problemOf(code, message)),
    });
    this.#socket = socket;
    watch(
      () => socket.wake(),
      () => socket.recycle(),
    );
    socket.start();
  }

  #receive(message: ServerMessage): void {
    this.#dropDrafts(message);
    const refused = message.type === "error" && this.#state.pending.find(({ id }) => id === message.id);
    if (refused) {
      this.#keepRefused(refused);
    }
    this.#dispatch({ type: "received", message });
  }

  /** Drop drafts that have served their purpose. */
  #dropDrafts(message: ServerMessage): void {
    const { screen } = this.#state;
    const k = "k" in screen ? screen.k : null;
    if (isLast(message)) {
      this.#drafts.clear();
    } else if (message.type === "feedback_due" || (message.type === "topic_due" && message.k !== k)) {
      this.#drafts.clear(`${k}:`);
    }
  }

  /** Keep the text of a refused message for the field that they came from. */
  #keepRefused(message: WorkerMessage): void {
    if (message.type === "say") {
      this.#drafts.set(
        REFUSED_TEXT,
        [this.#drafts.get<string>(REFUSED_TEXT), message.text].filter(Boolean).join("\n"),
      );
    } else if (message.type === "topic_change") {
      const { k, how, topic, opinion, bot_opinion } = message;
      this.#drafts.set(`${k}:change`, { how, topic, opinion, bot_opinion });
    }
  }

  #show(problem: Problem): void {
    this.#problem = problem;
    this.#notify();
  }

  #dispatch(action: Action): void {
    this.#state = reduce(this.#state, action);
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) {
      listener();
    }
  }
}

/**
 * What a token opens, without its time stamp and signature, so that drafts are found again under a
 * renewed token. A token without these parts is its own name.
 */
function assignmentOf(token: string): string {
  return token.split(".").slice(0, -2).join(".") || token;
}

import { backoff } from "./backoff";
import { newId } from "./ids";
import { join } from "./join";
import { Outbox, type Act, type Deed, type Place } from "./outbox";
import { problemOf, type Problem } from "./problem";
import { initial, reduce, type Action, type State } from "./reducer";
import { Socket, type ServerMessage, type Wireline } from "./socket";
import { lasting, passing, type Shelf } from "./storage";
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

/**
 * A worker's session as the page holds it: joins, keeps the state, and lends the screens what they need.
 * `scratch` keeps what was typed or set and not yet sent.
 */
export class Session {
  readonly #visitor: Visitor;
  readonly #tokens: Shelf;
  readonly #listeners = new Set<() => void>();
  #state: State = initial();
  #problem: Problem | null = null;
  #scratch: Shelf = passing("candor:none:");
  #socket: Socket | null = null;
  #attempt = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(visitor: Visitor) {
    this.#visitor = visitor;
    this.#tokens = lasting(`candor:${visitor.run}:${visitor.worker ?? ""}:`);
  }

  get state(): State {
    return this.#state;
  }

  get problem(): Problem | null {
    return this.#problem;
  }

  get scratch(): Shelf {
    return this.#scratch;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Join the run and open the session. */
  async open(): Promise<void> {
    clearTimeout(this.#retry);
    const token = this.#tokens.get<string>(TOKEN);
    const joined = await join({ ...this.#visitor, token });
    if (joined.ok) {
      this.#attempt = 0;
      this.#problem = null;
      this.#tokens.set(TOKEN, joined.token);
      this.#connect(joined.token, joined.socket);
    } else if (token !== null && joined.code === "token_invalid") {
      this.#tokens.remove(TOKEN);
      await this.open();
    } else {
      this.#show(joined.problem);
      if (joined.code === "unreachable") {
        this.#retry = setTimeout(() => void this.open(), backoff(this.#attempt));
        this.#attempt += 1;
      }
    }
  }

  /** Forget the session that this browser remembers and join anew. */
  afresh(): void {
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
  act(deed: Deed, place: Place | null = null): void {
    const outgoing = { message: { ...deed, id: newId() } as Act, place };
    this.#dispatch({ type: "sent", outgoing });
    this.#socket?.send(outgoing);
  }

  #connect(token: string, path: string): void {
    this.#scratch = passing(`candor:${assignmentOf(token)}:`);
    const outbox = new Outbox(this.#scratch);
    this.#state = initial(outbox.waiting);
    const socket = new Socket({
      connect: () => new WebSocket(new URL(path, window.location.href.replace(/^http/, "ws"))) as Wireline,
      token,
      outbox,
      onMessage: (message) => this.#hear(message),
      onLink: (link) => this.#dispatch({ type: "link", link }),
      onRefused: (code, message) => this.#show(problemOf(code, message)),
    });
    this.#socket = socket;
    watch(
      () => socket.wake(),
      () => socket.recycle(),
    );
    socket.start();
  }

  #hear(message: ServerMessage): void {
    this.#tidy(message);
    this.#dispatch({ type: "received", message });
  }

  /** Drop drafts that have served their purpose. */
  #tidy(message: ServerMessage): void {
    const { screen } = this.#state;
    const k = "k" in screen ? screen.k : null;
    if (message.type === "completed" || message.type === "ended") {
      this.#scratch.clear();
    } else if (message.type === "feedback_due" || (message.type === "topic_due" && message.k !== k)) {
      this.#scratch.clear(`${k}:`);
    }
  }

  #show(problem: Problem): void {
    this.#problem = problem;
    this.#tell();
  }

  #dispatch(action: Action): void {
    this.#state = reduce(this.#state, action);
    this.#tell();
  }

  #tell(): void {
    this.#listeners.forEach((listener) => listener());
  }
}

/**
 * What a token opens, without its time stamp and signature, so that drafts are found again under a
 * renewed token. A token without these parts is its own name.
 */
function assignmentOf(token: string): string {
  return token.split(".").slice(0, -2).join(".") || token;
}

import { backoff } from "./backoff";
import { newId } from "./ids";
import { join, type Joined } from "./join";
import { Outbox, type Act, type Deed } from "./outbox";
import { problemOf, type Problem } from "./problem";
import { initial, reduce, type Action, type State } from "./reducer";
import { isLast, Socket, type ServerMessage, type Wireline } from "./socket";
import { lasting, Shelf } from "./storage";
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
const WORDS = "words";

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
  #scratch = new Shelf(null, "");
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
    const joined = await this.#join();
    if (joined.ok) {
      this.#attempt = 0;
      this.#problem = null;
      this.#connect(joined.token, joined.socket);
    } else {
      this.#show(joined.problem);
      if (joined.code === "unreachable") {
        this.#retry = setTimeout(() => void this.open(), backoff(this.#attempt));
        this.#attempt += 1;
      }
    }
  }

  /** One tab at a time, so that two opened at the same moment come to one and the same session. */
  async #join(): Promise<Joined> {
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
  act(deed: Deed): void {
    const act = { ...deed, id: newId() } as Act;
    this.#dispatch({ type: "sent", act });
    this.#socket?.send(act);
  }

  /** The words of inputs that were refused. They are given back once. */
  takeWords(): string {
    const words = this.#scratch.get<string>(WORDS) ?? "";
    this.#scratch.remove(WORDS);
    return words;
  }

  #connect(token: string, path: string): void {
    this.#scratch = lasting(`candor:${assignmentOf(token)}:`);
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
    const refused = message.type === "error" && this.#state.pending.find(({ id }) => id === message.id);
    if (refused) {
      this.#giveBack(refused);
    }
    this.#dispatch({ type: "received", message });
  }

  /** Drop drafts that have served their purpose. */
  #tidy(message: ServerMessage): void {
    const { screen } = this.#state;
    const k = "k" in screen ? screen.k : null;
    if (isLast(message)) {
      this.#scratch.clear();
    } else if (message.type === "feedback_due" || (message.type === "topic_due" && message.k !== k)) {
      this.#scratch.clear(`${k}:`);
    }
  }

  /** Keep the words of a refused message for the field that they came from. */
  #giveBack(act: Act): void {
    if (act.type === "say") {
      this.#scratch.set(WORDS, [this.#scratch.get<string>(WORDS), act.text].filter(Boolean).join("\n"));
    } else if (act.type === "topic_change") {
      const { k, how, topic, opinion, bot_opinion } = act;
      this.#scratch.set(`${k}:change`, { how, topic, opinion, bot_opinion });
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

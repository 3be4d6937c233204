import { backoff } from "../../shared/backoff";
import { inLocalStorage, inSessionStorage, PrefixedStorage } from "../../shared/storage";
import { newId } from "./ids";
import { type JoinResponse, type JoinResult, join } from "./join";
import { type MessageWithoutId, Outbox, type WorkerMessage } from "./outbox";
import { isRefusedEntry, type Problem, problemOf } from "./problem";
import { PROTOCOL_VERSION, type TextsCard, type Writing } from "./protocol";
import { type Action, initial, reduce, type State } from "./reducer";
import { claimReload } from "./reload";
import { type Connection, isLast, type ServerMessage, Socket } from "./socket";
import { adoptVersionOne, versionOneName } from "./version_one";
import { watch } from "./waking";
import { REFUSED_WRITING, together, UNWRITTEN } from "./writing";

/**
 * Whose page this is, as the address says. `signature` shows that a personal link is genuine. `parameters`: whatever
 * else it holds, by which the place that a worker comes from names them.
 */
export interface Visitor {
  run: string;
  worker: string | null;
  signature: string | null;
  parameters: Record<string, string>;
}

/** What the server takes. Addresses that are passed on gather others. */
const MOST_PARAMETERS = 20;

/** Read the visitor from an address like `/w/demo?worker=A1&signature=yWn0…`. */
export function visitorOf(path: string, query: string): Visitor {
  const slug = path.split("/").filter(Boolean).at(-1) ?? "";
  const short = [...new URLSearchParams(query)].filter(
    ([name, value]) => name.length <= 64 && value.length <= 2_500,
  );
  const few = short.slice(0, MOST_PARAMETERS);
  const { worker, signature, ...others } = Object.fromEntries(few);
  // Of a parameter with two values nobody knows which of them names the worker.
  const doubled = new Set(few.filter(([name, value]) => others[name] !== value).map(([name]) => name));
  const parameters = Object.fromEntries(Object.entries(others).filter(([name]) => !doubled.has(name)));
  return { run: decoded(slug), worker: worker || null, signature: signature || null, parameters };
}

/** Replace halves of surrogate pairs, which no server can read: a broken keyboard or clipboard leaves them. */
function wellFormed<T>(message: T): T {
  return JSON.parse(JSON.stringify(message), (_, value: unknown) =>
    typeof value === "string" ? value.replace(/\p{Surrogate}/gu, "\ufffd") : value,
  ) as T;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const TOKEN = "token";
/** What a tab keeps may reach the others a moment later than the lock that it lets go. */
const SETTLING_MS = 500;
const LATEST = "latest";
const WORDS = "words";
const REFUSED_TEXT = "words";

/**
 * A worker's session as the page holds it: joins, keeps the state, and lends the screens what they need.
 * `drafts` keeps what was typed or set and not yet sent.
 */
export class Session {
  readonly #visitor: Visitor;
  readonly #tokens: PrefixedStorage;
  /** What this browser keeps of the run, whoever it is. */
  readonly #run: PrefixedStorage;
  readonly #listeners = new Set<() => void>();
  #state: State = initial();
  #problem: Problem | null = null;
  #drafts = new PrefixedStorage(null, "");
  #socket: Socket | null = null;
  #tries = 0;
  #remembered: TextsCard | null;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(visitor: Visitor) {
    this.#visitor = visitor;
    this.#tokens = inLocalStorage(`candor:${visitor.run}:${visitor.worker ?? ""}:`);
    this.#run = inLocalStorage(`candor:${visitor.run}:`);
    this.#remembered = this.#run.get<TextsCard>(WORDS);
  }

  get state(): State {
    return this.#state;
  }

  get problem(): Problem | null {
    return this.#problem;
  }

  /** What the page says: in the study's words once they are known, and from the first moment at a second visit. */
  get words(): TextsCard | null {
    const { study } = this.#state;
    return study ? study.words : this.#remembered;
  }

  /** What shows the server whose data these are. */
  get token(): string {
    return this.#tokens.get<string>(TOKEN) ?? "";
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
      this.#connect(joined);
    } else {
      this.#remembered = joined.words ?? this.#remembered;
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
      const token = this.#tokens.get<string>(TOKEN);
      const joined = await join({ ...this.#visitor, token, earlier: this.#run.get<string>(LATEST) });
      if (joined.ok) {
        this.#tokens.set(TOKEN, joined.token);
        this.#run.set(LATEST, joined.token);
      }
      return joined;
    };
    // Plain http pages have no locks.
    const locks = navigator.locks as LockManager | undefined;
    if (!locks) {
      return joinNow();
    }
    return new Promise((done) => {
      void locks.request(`candor:${this.#visitor.run}:join`, async () => {
        done(await joinNow());
        await new Promise((settled) => setTimeout(settled, SETTLING_MS));
      });
    });
  }

  /** Forget the session that this browser remembers and join anew. */
  startAnew(): void {
    this.#tokens.remove(TOKEN);
    this.#run.remove(LATEST);
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
    const message = wellFormed({ ...content, id: newId() } as WorkerMessage);
    this.#dispatch({ type: "sent", message });
    this.#socket?.send(message);
  }

  /** The text of inputs that were refused. They are given back once. */
  takeRefusedText(): string {
    const text = this.#drafts.get<string>(REFUSED_TEXT) ?? "";
    this.#drafts.remove(REFUSED_TEXT);
    return text;
  }

  #connect({ token, socket: path, assignment }: JoinResponse): void {
    this.#drafts = inLocalStorage(`candor:${assignment}:`);
    adoptVersionOne(inLocalStorage(`candor:${versionOneName(token)}:`), this.#drafts);
    const outbox = new Outbox(this.#drafts);
    this.#state = initial(outbox.waiting);
    const socket = new Socket({
      connect: () => new WebSocket(new URL(path, window.location.href.replace(/^http/, "ws"))) as Connection,
      token,
      outbox,
      onMessage: (message) => this.#receive(message),
      onConnection: (connection) => this.#dispatch({ type: "connection", connection }),
      onRefused: (code, message) => this.#refuse(code, message),
    });
    this.#socket = socket;
    watch(
      () => socket.wake(),
      () => socket.recycle(),
    );
    socket.start();
  }

  /** The server lets this page not in. One that is outdated loads itself anew, if that may help. */
  #refuse(code: string, message: string): void {
    if (code === "outdated_page" && claimReload(PROTOCOL_VERSION, inSessionStorage("candor:"))) {
      window.location.reload();
    } else {
      this.#show(problemOf(code, message));
    }
  }

  #receive(message: ServerMessage): void {
    this.#dropDrafts(message);
    if (message.type === "snapshot") {
      this.#remembered = message.study.words;
      this.#run.set(WORDS, this.#remembered);
    }
    const refused = message.type === "error" && this.#state.pending.find(({ id }) => id === message.id);
    if (refused) {
      this.#keepRefused(refused);
    }
    this.#dispatch({ type: "received", message });
    if (message.type === "error" && isRefusedEntry(message.code)) {
      this.#socket?.stop();
      this.#show(problemOf(message.code, message.message, undefined, message.again_at));
    }
  }

  /** Drop drafts that have served their purpose. */
  #dropDrafts(message: ServerMessage): void {
    const { screen } = this.#state;
    const now = "conversation" in screen ? screen.conversation : null;
    if (isLast(message)) {
      this.#drafts.clear();
    } else if (
      message.type === "feedback_due" ||
      message.type === "questionnaire_due" ||
      ((message.type === "topic_due" || message.type === "item_due") && message.conversation !== now)
    ) {
      this.#drafts.clear(`${now}:`);
    }
  }

  /** Keep the text of a refused message for the field that it came from. */
  #keepRefused(message: WorkerMessage): void {
    if (message.type === "say") {
      this.#drafts.set(
        REFUSED_TEXT,
        [this.#drafts.get<string>(REFUSED_TEXT), message.text].filter(Boolean).join("\n"),
      );
      if (message.writing) {
        const earlier = this.#drafts.get<Writing>(REFUSED_WRITING) ?? UNWRITTEN;
        this.#drafts.set(REFUSED_WRITING, together(earlier, message.writing));
      }
    } else if (message.type === "topic_change") {
      const { conversation, how, topic, opinion, bot_opinion } = message;
      this.#drafts.set(`${conversation}:change`, { how, topic, opinion, bot_opinion });
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

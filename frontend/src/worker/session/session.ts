import { backoff } from "../../shared/backoff";
import { forgetsWithTab, oneTabAtATime } from "../../shared/browser";
import { atServer } from "../../shared/site";
import { inLocalStorage, inSessionStorage, PrefixedStorage } from "../../shared/storage";
import { newId } from "./ids";
import { type JoinResponse, type JoinResult, join } from "./join";
import { type MessageWithoutId, Outbox, type WorkerMessage } from "./outbox";
import { isRefusedEntry, type Problem, problemOf } from "./problem";
import { PROTOCOL_VERSION, type TextsCard, type Writing } from "./protocol";
import { type Action, initial, reduce, type State } from "./reducer";
import { claimReload } from "./reload";
import { type Connection, isLast, type ServerMessage, Socket } from "./socket";
import { tellTrouble } from "./trouble";
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
  /** Names of parameters that the address holds with two values. */
  doubled: string[];
}

/** Parameters of our own, in whatever case somebody has typed them. */
const OWN = new Set(["worker", "signature"]);
/** What the server takes. Addresses that are passed on gather others. */
const MOST_PARAMETERS = 20;

/** Read the visitor from an address like `/w/demo?worker=A1&signature=yWn0…`. */
export function visitorOf(path: string, query: string): Visitor {
  const slug = path.split("/").filter(Boolean).at(-1) ?? "";
  const short = [...new URLSearchParams(query)].filter(
    ([name, value]) => name.length <= 64 && value.length <= 2_500,
  );
  const few = short.slice(0, MOST_PARAMETERS);
  const given = new Map<string, string>();
  // Of a parameter with two values nobody knows which of them names the worker.
  const doubled = new Set<string>();
  for (const [written, value] of few) {
    const name = OWN.has(written.toLowerCase()) ? written.toLowerCase() : written;
    if ((given.get(name) ?? value) !== value) {
      doubled.add(name);
    }
    given.set(name, value);
  }
  for (const name of doubled) {
    given.delete(name);
  }
  const { worker, signature, ...parameters } = Object.fromEntries(given);
  return {
    run: decoded(slug),
    worker: worker || null,
    signature: signature || null,
    parameters,
    doubled: [...doubled],
  };
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
const TRIES_UNTIL_ASKED = 3;
const LATEST = "latest";
const WORDS = "words";
const REFUSED_TEXT = "words";
/** The most of a message to the server. */
const MAX_FRAME_BYTES = 32_768;
const TOO_LONG = {
  type: "error",
  code: "too_long",
  message: "",
  retry: false,
  again_at: null,
  way_back: null,
} as const;

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
  #blocked = false;
  #rejoined = false;
  #translatedIn: number | null = null;
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

  /** Whether the server answers web pages here, and no WebSocket comes about. */
  get blocked(): boolean {
    return this.#blocked;
  }

  /** Whether who closes this tab cannot come back: the browser keeps nothing, and the address names nobody. */
  get forgetful(): boolean {
    const { worker, parameters } = this.#visitor;
    return worker === null && Object.keys(parameters).length === 0 && forgetsWithTab();
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
    return oneTabAtATime(`candor:${this.#visitor.run}:join`, SETTLING_MS, joinNow);
  }

  /** Tell the server that a part of the page could not be drawn. */
  failedToDraw(part: string, error: unknown): void {
    void tellTrouble(this.token, "not_drawn", `${part}: ${error}`);
  }

  /** Tell the server, once for each conversation, that the browser translates what its worker reads. */
  translated(): void {
    const { screen } = this.#state;
    if ("conversation" in screen && screen.name !== "topic" && screen.conversation !== this.#translatedIn) {
      this.#translatedIn = screen.conversation;
      void tellTrouble(this.token, "translated", "");
    }
  }

  /** Take the session back from another tab. */
  takeBack(): void {
    this.#socket?.start();
  }

  dismiss(): void {
    this.#dispatch({ type: "dismissed" });
  }

  /** Send what the worker did. The server hangs up on what is far too long, so that it is refused here. */
  send(content: MessageWithoutId): void {
    const message = wellFormed({ ...content, id: newId() } as WorkerMessage);
    this.#dispatch({ type: "sent", message });
    if (new TextEncoder().encode(JSON.stringify(message)).length > MAX_FRAME_BYTES) {
      this.#receive({ ...TOO_LONG, id: message.id });
    } else {
      this.#socket?.send(message);
    }
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
      connect: () =>
        new WebSocket(new URL(atServer(path), window.location.href.replace(/^http/, "ws"))) as Connection,
      token,
      outbox,
      onMessage: (message) => this.#receive(message),
      onConnection: (connection) => this.#dispatch({ type: "connection", connection }),
      onUnopened: (times) => void this.#lookWhy(times),
      onRefused: (code, message) => this.#refuse(code, message),
    });
    this.#socket = socket;
    watch(
      () => socket.wake(),
      () => socket.recycle(),
    );
    socket.start();
  }

  /** Every few failed connections: where the server hears of it over plain HTTP, only the WebSocket is blocked. */
  async #lookWhy(times: number): Promise<void> {
    if (times % TRIES_UNTIL_ASKED === 0) {
      this.#blocked = await tellTrouble(this.token, "no_socket", "");
      this.#notify();
    }
  }

  /**
   * The server does not let this page in. One whose token is too old joins again, which decides whether the worker may
   * go on; one that is outdated loads itself anew, if that may help.
   */
  #refuse(code: string, message: string): void {
    if (code === "token_expired" && !this.#rejoined) {
      this.#rejoined = true;
      void this.open();
    } else if (code === "outdated_page" && claimReload(PROTOCOL_VERSION, inSessionStorage("candor:"))) {
      window.location.reload();
    } else {
      this.#show(problemOf(code, message));
    }
  }

  #receive(message: ServerMessage): void {
    this.#dropDrafts(message);
    if (message.type === "snapshot") {
      this.#blocked = false;
      this.#rejoined = false;
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
      const { code, again_at, way_back } = message;
      this.#show(problemOf(code, message.message, undefined, again_at, way_back));
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

import type { WorkerMessage } from "./outbox";
import type {
  ItemContent,
  Opinion,
  QuestionCard,
  QuizCard,
  ReportCard,
  Snapshot,
  StudyCard,
  StudyNotice,
  TurnCard,
} from "./protocol";
import type { ConnectionState, ServerMessage } from "./socket";

/** Which conversation: its number in the assignment, and which attempt at it, both from 1. */
export interface ConversationName {
  conversation: number;
  attempt: number;
}

/** Whether both name the same attempt at the same conversation. */
export function isSame(one: ConversationName, other: ConversationName): boolean {
  return one.conversation === other.conversation && one.attempt === other.attempt;
}

/** The screens of an assignment; they follow the server's session phases. */
export type Screen =
  | { name: "loading" }
  | { name: "instructions" }
  | QuestionnaireScreen
  | { name: "tutorial"; question: QuestionCard }
  | ({ name: "topic"; icebreaker: string | null; scenario: string | null } & ConversationName)
  | ChatScreen
  | ChoiceScreen
  | RatingScreen
  | QuizScreen
  | { name: "feedback" }
  | { name: "done"; code: string; returnTo: string | null; debriefing: string | null }
  | EndedScreen;

/** `code`: of who has left with a report, and is paid. */
export interface EndedScreen {
  name: "ended";
  how: Ending;
  debriefing: string | null;
  returnTo: string | null;
  code: string | null;
}

/** A screen on which messages are read, and can be reported. `reports`: those that are, as stored. */
export interface ReportedScreen extends ConversationName {
  reports: readonly ReportCard[];
}

/**
 * How an assignment was over without being handed in. `looked`: by somebody who had not begun; `reported`: with the
 * report of a message.
 */
export type Ending = "expired" | "returned" | "looked" | "reported";

/** What a study asks before the first conversation, or after the last. */
export interface QuestionnaireScreen {
  name: "questionnaire";
  part: "before" | "after";
}

/**
 * `replyDue`: the answer is on its way. `opinion` and `botOpinion`: what the worker last said of the topic;
 * null where they have not. `choiceDue`: the line after which to choose between two replies.
 */
export interface ChatScreen extends ReportedScreen {
  name: "chat";
  topic: string;
  scenario: string | null;
  opinion: Opinion | null;
  botOpinion: Opinion | null;
  turns: TurnCard[];
  replyDue: boolean;
  choiceDue: number | null;
}

/** Two conversations side by side are over, and one is to be preferred. `turn`: their last line. */
export interface ChoiceScreen extends ReportedScreen {
  name: "choice";
  turn: number;
  turns: TurnCard[];
}

/**
 * `item`: what is read and rated, where nothing was chatted; else `turns` is what was said. `cutShort`: who has just
 * ended the conversation where the worker has not. `side`: of two chatbots, which one.
 */
export interface RatingScreen extends ReportedScreen {
  name: "rating";
  cutShort: CutShort | null;
  item: ItemContent | null;
  side: Side | null;
  turns: TurnCard[];
}

/** The conversation is rated: which of these lines, or personas, is the chat partner's? */
export interface QuizScreen extends ConversationName {
  name: "quiz";
  about: QuizCard["about"];
  lines: string[];
}

export type Side = "left" | "right";

/** A conversation's end that its worker has not asked for: a chatbot that could not go on, or a researcher. */
export type CutShort = "chatbot" | "researcher";

/** A refusal to be told to the worker. */
export interface Notice {
  key: number;
  code: string;
}

export interface State {
  connection: ConnectionState;
  study: StudyCard | null;
  screen: Screen;
  /** What was sent and has no answer yet. */
  pending: readonly WorkerMessage[];
  notice: Notice | null;
  /** Why the worker's last answer to a test question was right, until they go on; null: it was not such an answer. */
  explained: string | null;
  /** Words of the researchers to this worker. */
  words: readonly StudyNotice[];
}

export type Action =
  | { type: "connection"; connection: ConnectionState }
  | { type: "sent"; message: WorkerMessage }
  | { type: "received"; message: ServerMessage }
  | { type: "dismissed" };

/** The state before the first word of the server. `pending` is what the outbox has kept. */
export function initial(pending: readonly WorkerMessage[] = []): State {
  return {
    connection: "connecting",
    study: null,
    screen: { name: "loading" },
    pending,
    notice: null,
    explained: null,
    words: [],
  };
}

/** What the page knows after `action`. Pure. */
export function reduce(state: State, action: Action): State {
  switch (action.type) {
    case "connection":
      return { ...state, connection: action.connection };
    case "sent":
      return { ...state, pending: [...state.pending, action.message], notice: null, explained: null };
    case "dismissed":
      return { ...state, notice: null };
    case "received":
      return received(state, action.message);
  }
}

function received(state: State, message: ServerMessage): State {
  switch (message.type) {
    case "snapshot":
      return { ...state, study: message.study, screen: screenOf(message) };
    case "accepted":
      return accepted(state, message.id);
    case "error":
      return refused(state, message.id, message.code);
    case "topic_due": {
      const { conversation, attempt, icebreaker, scenario } = message;
      return at(state, { name: "topic", conversation, attempt, icebreaker, scenario });
    }
    case "answer_explained":
      return { ...state, explained: message.why };
    case "questionnaire_due":
      return at(state, { name: "questionnaire", part: message.part });
    case "question_due":
      return at(state, { name: "tutorial", question: message.question });
    case "item_due": {
      const { conversation, attempt, item } = message;
      return at(state, {
        name: "rating",
        conversation,
        attempt,
        cutShort: null,
        item,
        side: null,
        turns: [],
        reports: [],
      });
    }
    case "conversation_started": {
      const { conversation, attempt, topic, scenario } = message;
      const opinion = underWay(state, "topic", message)?.opinion ?? null;
      const begun = { turns: [], reports: [], replyDue: false, choiceDue: null, opinion, botOpinion: null };
      return at(state, { name: "chat", conversation, attempt, topic, scenario, ...begun });
    }
    case "typing":
      return inChat(state, message, (chat) => ({ ...chat, replyDue: true }));
    case "said":
      return inChat(state, message, (chat) => ({
        ...withTurn(chat, reply(message.turn, message.text, null, message.pace)),
        replyDue: false,
      }));
    case "said_by_both":
      return inChat(state, message, (chat) => ({
        ...withTurn(chat, reply(message.turn, message.left, message.right, message.pace)),
        replyDue: false,
        choiceDue: state.study?.comparison?.choose === "turn" ? message.turn : null,
      }));
    case "goes_on":
      return inChat(state, message, (chat) => ({
        ...withTurn(chat, reply(message.turn, message.text, null, null)),
        choiceDue: null,
      }));
    case "choice_due": {
      const { conversation, attempt, turn } = message;
      return at(state, { name: "choice", conversation, attempt, turn, ...readOn(state.screen) });
    }
    case "rating_due": {
      const { conversation, attempt } = message;
      const { screen } = state;
      const { side } = message;
      const cutShort = message.cut_short ?? null; // which a server of before, while it is replaced, does not say
      return at(state, {
        name: "rating",
        conversation,
        attempt,
        cutShort,
        item: null,
        side,
        ...readOn(screen),
      });
    }
    case "quiz_due":
      return at(state, { name: "quiz", ...message.quiz });
    case "replaced":
      // What follows, `topic_due`, says which attempt it is for.
      return state;
    case "feedback_due":
      return at(state, { name: "feedback" });
    case "completed":
      return finished(state, done(message.code, message));
    case "ended":
      return finished(state, {
        name: "ended",
        how: endingOf(state, message.phase, message.code ?? null),
        debriefing: message.debriefing ?? null,
        returnTo: message.return_to ?? null,
        code: message.code ?? null,
      });
    case "notice":
      return state.words.some(({ notice }) => notice === message.notice)
        ? state
        : { ...state, words: [...state.words, message] };
    case "taken_over":
      return { ...state, connection: "taken_over" };
  }
}

function at(state: State, screen: Screen): State {
  return { ...state, screen };
}

function finished(state: State, screen: Screen): State {
  return { ...state, screen, pending: [], notice: null };
}

/** What has been said, and is still read on the screen that follows. */
function readOn(screen: Screen): { turns: TurnCard[]; reports: readonly ReportCard[] } {
  return "turns" in screen ? { turns: screen.turns, reports: screen.reports } : { turns: [], reports: [] };
}

/** Who leaves before the study has begun for them has only had a look; who has a code has left with a report. */
function endingOf({ screen }: State, phase: "expired" | "returned", code: string | null): Ending {
  if (code !== null) {
    return "reported";
  }
  return phase === "returned" && screen.name === "instructions" ? "looked" : phase;
}

function done(
  code: string,
  { return_to, debriefing }: { return_to: string | null; debriefing: string | null },
): Screen {
  return { name: "done", code, returnTo: return_to, debriefing };
}

/** The state after a change to the chat of this conversation; as it was where another screen is shown. */
function inChat(state: State, of: ConversationName, change: (chat: ChatScreen) => ChatScreen): State {
  const { screen } = state;
  return screen.name === "chat" && isSame(screen, of) ? at(state, change(screen)) : state;
}

/** A reply as it comes: of one chatbot, or of two. */
function reply(turn: number, text: string, right: string | null, pace: number | null): TurnCard {
  return { turn, author: "bot", text, right, pace, shown_for: pace === null ? null : 0, value: null };
}

/** A line of the worker's own. */
function ownLine(turn: number, text: string): TurnCard {
  return { turn, author: "worker", text, right: null, pace: null, shown_for: null, value: null };
}

/** The chat with this line in order; a line that is already there is not doubled. */
function withTurn(chat: ChatScreen, line: TurnCard): ChatScreen {
  const others = chat.turns.filter(({ turn }) => turn !== line.turn);
  return { ...chat, turns: [...others, line].sort((a, b) => a.turn - b.turn) };
}

type ReportMessage = Extract<WorkerMessage, { type: "report" | "take_back_report" }>;

/** The report that a message makes; null where it takes one back. */
function cardOf(message: ReportMessage): ReportCard | null {
  const { turn, side } = message;
  return message.type === "report"
    ? { turn, side: side ?? null, reason: message.reason, note: message.note || null }
    : null;
}

/** The state after a report, or its taking back, is stored. */
function withReport(state: State, message: ReportMessage): State {
  const { screen } = state;
  if (!("reports" in screen) || !isSame(screen, message)) {
    return state;
  }
  const others = screen.reports.filter((report) => !isOf(report, message.turn, message.side ?? null));
  const card = cardOf(message);
  return at(state, { ...screen, reports: card ? [...others, card] : others });
}

/** Whether a report is of this line. One without a side is of the line that stands for both. */
function isOf(report: ReportCard, turn: number, side: Side | null): boolean {
  return report.turn === turn && (side === null || report.side === null || report.side === side);
}

function screenOf(snapshot: Snapshot): Screen {
  const { conversation: card, phase } = snapshot;
  switch (phase) {
    case "instructions":
    case "feedback":
      return { name: phase };
    case "questions_before":
      return { name: "questionnaire", part: "before" };
    case "questions_after":
      return { name: "questionnaire", part: "after" };
    case "done":
      return done(snapshot.code ?? "", snapshot);
    case "expired":
    case "returned":
      return {
        name: "ended",
        how: snapshot.code === null ? phase : "reported",
        debriefing: snapshot.debriefing,
        returnTo: snapshot.return_to,
        code: snapshot.code,
      };
    case "tutorial":
      return snapshot.question ? { name: phase, question: snapshot.question } : { name: "loading" };
    case "quiz":
      return snapshot.quiz ? { name: phase, ...snapshot.quiz } : { name: "loading" };
  }
  if (!card) {
    return { name: "loading" };
  }
  const { conversation, attempt, icebreaker, topic, turns, reports, typing, item, scenario, side } = card;
  const { opinion, bot_opinion: botOpinion } = card;
  switch (phase) {
    case "topic":
      return { name: "topic", conversation, attempt, icebreaker, scenario };
    case "chat":
      return {
        name: "chat",
        conversation,
        attempt,
        topic: topic ?? "",
        scenario,
        opinion,
        botOpinion,
        turns,
        reports,
        replyDue: typing,
        choiceDue: card.choice_due,
      };
    case "choice":
      return { name: "choice", conversation, attempt, turn: card.choice_due ?? 0, turns, reports };
    case "rating":
      return { name: "rating", conversation, attempt, cutShort: null, item, side, turns, reports };
  }
}

function accepted(state: State, id: string): State {
  const message = state.pending.find((other) => other.id === id);
  if (!message) {
    return state;
  }
  const rest = { ...state, pending: state.pending.filter((other) => other !== message) };
  switch (message.type) {
    case "say":
      return inChat(rest, message, (chat) => {
        if (chat.turns.some(({ turn }) => turn === message.turn)) {
          return chat;
        }
        const line = ownLine(message.turn, message.text);
        const answered = chat.turns.some(({ turn }) => turn > message.turn);
        return { ...withTurn(chat, line), replyDue: !answered };
      });
    case "rate_turn":
      return inChat(rest, message, (chat) => ({
        ...chat,
        turns: chat.turns.map((line) =>
          line.turn === message.turn ? { ...line, value: message.value } : line,
        ),
      }));
    case "report":
    case "take_back_report":
      return withReport(rest, message);
    case "topic_change":
      return inChat(rest, message, (chat) => ({
        ...chat,
        topic: message.topic,
        opinion: message.opinion,
        botOpinion: message.bot_opinion,
      }));
    case "choose":
      return inChat(rest, message, (chat) =>
        chat.choiceDue === message.turn ? { ...chat, choiceDue: null } : chat,
      );
    default:
      return rest;
  }
}

function refused(state: State, id: string | null, code: string): State {
  return {
    ...state,
    pending: state.pending.filter((message) => message.id !== id),
    notice: { key: (state.notice?.key ?? 0) + 1, code },
  };
}

// ---- what screens ask of the state -----------------------------------------------------------

/** What is on its way, the latest first. Browsers before 2022 have no `findLast`. */
function newestFirst(state: State): WorkerMessage[] {
  return [...state.pending].reverse();
}

/** The latest message of this kind that is on its way, if there is one; with `of`, of that conversation. */
export function underWay<T extends WorkerMessage["type"]>(
  state: State,
  type: T,
  of?: ConversationName,
): Extract<WorkerMessage, { type: T }> | null {
  const message = newestFirst(state).find(
    (other) => other.type === type && (of === undefined || ("conversation" in other && isSame(other, of))),
  );
  return (message as Extract<WorkerMessage, { type: T }> | undefined) ?? null;
}

/** What the worker thinks of a reply, while that is on its way. */
export function underWayFor(state: State, chat: ConversationName, turn: number): number | null {
  const sent = newestFirst(state).find(
    (message) => message.type === "rate_turn" && isSame(message, chat) && message.turn === turn,
  );
  return sent?.type === "rate_turn" ? sent.value : null;
}

/** What the worker has reported of a line, stored or on its way; null where they have not, or took it back. */
export function reportOf(
  state: State,
  screen: ReportedScreen,
  turn: number,
  side: Side | null,
): ReportCard | null {
  const sent = newestFirst(state).find(
    (message): message is ReportMessage =>
      (message.type === "report" || message.type === "take_back_report") &&
      isSame(message, screen) &&
      message.turn === turn &&
      (message.side ?? null) === side,
  );
  return sent ? cardOf(sent) : (screen.reports.find((report) => isOf(report, turn, side)) ?? null);
}

/** The worker's line that has been sent and is not yet known to be stored. */
export function lineUnderWay(state: State, chat: ChatScreen): TurnCard | null {
  for (const message of state.pending) {
    if (
      message.type === "say" &&
      isSame(message, chat) &&
      !chat.turns.some(({ turn }) => turn === message.turn)
    ) {
      return ownLine(message.turn, message.text);
    }
  }
  return null;
}

/** The topic as the worker last set it, stored or on its way. */
export function topicOf(state: State, chat: ChatScreen): string {
  return underWay(state, "topic_change", chat)?.topic ?? chat.topic;
}

/** Whether a new line may be sent: nothing that decides about it is on its way, and no reply is due. */
export function maySpeak(state: State, chat: ChatScreen): boolean {
  const busy = underWay(state, "say", chat) ?? underWay(state, "end_conversation", chat);
  return !chat.replyDue && chat.choiceDue === null && busy === null;
}

/** Whether the server takes no further line of the worker's in this conversation. */
export function isFull(chat: ChatScreen, { maximum_inputs: most }: StudyCard): boolean {
  return inputsOf(chat) >= most;
}

/** The worker's lines that count. */
export function inputsOf(chat: ChatScreen): number {
  return chat.turns.filter(({ author }) => author === "worker").length;
}

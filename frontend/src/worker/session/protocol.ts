// Made from protocol.schema.json by `npm run types`. Do not edit.

/**
 * What somebody thinks of a topic.
 */
export type Opinion = "like" | "ambivalent" | "dislike";
/**
 * How a topic changed: the five kinds of the instrument (METHOD section 1.4).
 */
export type TopicChangeKind =
  "bot change" | "user change last" | "user change next" | "user wants bot change" | "no change";
/**
 * Where an assignment stands.
 */
export type Phase =
  "instructions" | "topic" | "chat" | "rating" | "feedback" | "done" | "expired" | "returned";

/**
 * Candor wire protocol, version 3
 */
export interface Wire {
  client: Hello | Agree | Topic | Say | TopicChange | EndConversation | Rate | Feedback | Leave;
  server:
    | Snapshot
    | Accepted
    | TopicDue
    | ConversationStarted
    | Typing
    | SaidByBot
    | RatingDue
    | Replaced
    | FeedbackDue
    | Completed
    | Ended
    | TakenOver
    | Error;
}
/**
 * Open the session that `token` names. Must be the first message on a connection.
 *
 * `protocol` is the version that the page speaks; version 1 did not name it. Fields that are not known here
 * are ignored, so that a page of any other version is told to load itself again.
 */
export interface Hello {
  id: string;
  protocol?: number | null;
  token: string;
  type: "hello";
}
/**
 * The worker has read the instructions and consents.
 */
export interface Agree {
  id: string;
  type: "agree";
}
/**
 * The opening topic of a conversation: typed by the worker, or left out where the study picks it.
 */
export interface Topic {
  attempt: number;
  conversation: number;
  id: string;
  opinion: Opinion;
  text?: string | null;
  type: "topic";
}
/**
 * One input of the worker: line number `turn` of the conversation, counted from 0.
 */
export interface Say {
  attempt: number;
  conversation: number;
  id: string;
  text: string;
  turn: number;
  type: "say";
}
/**
 * The topic has changed: how, to what, and what both sides seem to think of it.
 */
export interface TopicChange {
  attempt: number;
  bot_opinion: Opinion;
  conversation: number;
  how: TopicChangeKind;
  id: string;
  opinion: Opinion;
  topic: string;
  type: "topic_change";
}
/**
 * The worker is done chatting and goes on to rate.
 */
export interface EndConversation {
  attempt: number;
  conversation: number;
  id: string;
  type: "end_conversation";
}
/**
 * One value from 0 to 100 for every criterion of the study, by its label.
 */
export interface Rate {
  attempt: number;
  conversation: number;
  id: string;
  ratings: {
    [k: string]: number;
  };
  type: "rate";
}
/**
 * What the worker wants to tell the researchers; empty when nothing. Hands the assignment in.
 */
export interface Feedback {
  id: string;
  text: string;
  type: "feedback";
}
/**
 * The worker gives the assignment back.
 */
export interface Leave {
  id: string;
  type: "leave";
}
/**
 * All that a page needs to draw itself; sent on every connect.
 */
export interface Snapshot {
  code: string | null;
  conversation: ConversationCard | null;
  phase: Phase;
  protocol: number;
  return_to: string | null;
  study: StudyCard;
  type: "snapshot";
}
/**
 * The conversation that the worker is in: its number in the assignment, and the attempt at it, from 1.
 *
 * `attempt` is above 1 where it started over, because a chatbot could not go on. `icebreaker` is the
 * opening topic picked by the study, in the topic phase. `topic` is the current topic once the chat has
 * begun. `inputs` counts the worker's lines. `typing` says that a reply is due.
 */
export interface ConversationCard {
  attempt: number;
  conversation: number;
  icebreaker: string | null;
  inputs: number;
  topic: string | null;
  turns: TurnCard[];
  typing: boolean;
}
/**
 * One line of the conversation as it stands on the screen.
 */
export interface TurnCard {
  author: "worker" | "bot";
  text: string;
  turn: number;
}
/**
 * What a worker may know of the study.
 */
export interface StudyCard {
  conversations: number;
  criteria: CriterionCard[];
  minimum_inputs: number;
  payment: string;
  title: string;
  topic_mode: "free" | "icebreaker";
}
/**
 * A statement to rate. The label keys the answer and is never shown.
 */
export interface CriterionCard {
  label: string;
  statement: string;
}
/**
 * The message with this id is on disk; what it led to was sent before this.
 */
export interface Accepted {
  id: string;
  type: "accepted";
}
/**
 * This conversation, of `conversations` in all, is next: ask for its topic, or for an opinion of the
 * ice-breaker.
 */
export interface TopicDue {
  attempt: number;
  conversation: number;
  conversations: number;
  icebreaker: string | null;
  type: "topic_due";
}
/**
 * The chat of this conversation, of `conversations` in all, is open.
 */
export interface ConversationStarted {
  attempt: number;
  conversation: number;
  conversations: number;
  topic: string;
  type: "conversation_started";
}
/**
 * A reply is on its way.
 */
export interface Typing {
  attempt: number;
  conversation: number;
  type: "typing";
}
/**
 * The chatbot's reply: line number `turn` of the conversation, counted from 0.
 */
export interface SaidByBot {
  attempt: number;
  conversation: number;
  text: string;
  turn: number;
  type: "said";
}
/**
 * The chat is over: rate the conversation.
 */
export interface RatingDue {
  attempt: number;
  conversation: number;
  type: "rating_due";
}
/**
 * The chatbot could not go on; the conversation starts over with another one, as `attempt`.
 *
 * `topic_due` follows.
 */
export interface Replaced {
  attempt: number;
  conversation: number;
  type: "replaced";
}
/**
 * Every conversation is rated: ask for feedback.
 */
export interface FeedbackDue {
  type: "feedback_due";
}
/**
 * The assignment is handed in. Exactly one of `code` and `return_to` is set.
 */
export interface Completed {
  code: string | null;
  return_to: string | null;
  type: "completed";
}
/**
 * The assignment is over without being handed in.
 */
export interface Ended {
  phase: "expired" | "returned";
  type: "ended";
}
/**
 * The session was opened elsewhere; this connection closes.
 */
export interface TakenOver {
  type: "taken_over";
}
/**
 * A message was refused. `retry`: the same message may be sent again later.
 */
export interface Error {
  code: string;
  id: string | null;
  message: string;
  retry: boolean;
  type: "error";
}

/**
 * The version of the protocol that these types describe.
 */
export const PROTOCOL_VERSION = 3;

// Made from protocol.schema.json by `npm run types`. Do not edit.

/**
 * An opinion of a topic.
 */
export type Opinion = "like" | "ambivalent" | "dislike";
/**
 * The way a topic changed: the five kinds of the instrument (METHOD section 1.4).
 */
export type TopicChangeKind =
  "bot change" | "user change last" | "user change next" | "user wants bot change" | "no change";
/**
 * The phase of an assignment.
 */
export type Phase =
  | "instructions"
  | "questions_before"
  | "tutorial"
  | "topic"
  | "chat"
  | "choice"
  | "rating"
  | "quiz"
  | "questions_after"
  | "feedback"
  | "done"
  | "expired"
  | "returned";

/**
 * Candor wire protocol, version 6
 */
export interface Wire {
  client:
    | Hello
    | Agree
    | Questionnaire
    | Answer
    | Topic
    | Say
    | TopicChange
    | EndConversation
    | Choose
    | Rate
    | RateTurn
    | Report
    | TakeBackReport
    | AnswerQuiz
    | Feedback
    | Leave;
  server:
    | Snapshot
    | Accepted
    | QuestionnaireDue
    | QuestionDue
    | AnswerExplained
    | TopicDue
    | ItemDue
    | ConversationStarted
    | Typing
    | SaidByBot
    | SaidByBoth
    | GoesOn
    | ChoiceDue
    | RatingDue
    | QuizDue
    | Replaced
    | FeedbackDue
    | Completed
    | Ended
    | StudyNotice
    | TakenOver
    | Error;
}
/**
 * Open the session that `token` names. Must be the first message on a connection.
 *
 * `protocol` is the version that the page speaks; version 1 did not name it. Unknown fields are ignored, so
 * that a page of any other version can be told to reload itself.
 */
export interface Hello {
  id: string;
  protocol?: number | null;
  token: string;
  type: "hello";
}
/**
 * The worker has read the instructions and consents.
 *
 * If the study has a consent form: `consent` is its version, and `ticked` has the labels of the ticked
 * boxes.
 */
export interface Agree {
  consent?: string | null;
  id: string;
  /**
   * @maxItems 20
   */
  ticked?: string[];
  type: "agree";
}
/**
 * The worker's answers before, or after, all conversations, by the labels of the questions.
 */
export interface Questionnaire {
  answers: {
    [k: string]: number | string | string[] | Mark[];
  };
  id: string;
  part: "before" | "after";
  type: "questionnaire";
}
/**
 * A marked span of a text: its characters from `start` to before `end`, counted from 0.
 *
 * Characters are Unicode code points. `line`: the line of the conversation, counted from 0; 0 in any other
 * text.
 */
export interface Mark {
  category?: string;
  end: number;
  line: number;
  severity?: string;
  start: number;
}
/**
 * The worker's answer to a test question of the tutorial. Both are numbers, from 1.
 */
export interface Answer {
  answer: number;
  id: string;
  question: number;
  type: "answer";
}
/**
 * The opening topic of a conversation: typed by the worker, or left out if the study chooses it.
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
 * One message of the worker: line number `turn` of the conversation, counted from 0.
 *
 * `writing`: how it was written, if the study records that.
 */
export interface Say {
  attempt: number;
  conversation: number;
  id: string;
  text: string;
  turn: number;
  type: "say";
  writing?: Writing | null;
}
/**
 * Counts of how a worker wrote a message, made by their page; a page can count wrongly, or lie.
 *
 * Characters that were deleted again count too, except, in what is stored (`kept`), pasted ones.
 * `typed`: characters entered one at a time. `composed`: several at a time, by an input method, a
 * correction, a suggestion or voice, but not pasted. `pasted`: pasted or dropped, in `pastes` actions.
 *
 * `writing_ms`: from the first change of the text to the last. `longest_pause_ms`: the longest time between
 * two changes. `away`: how often the page lost the focus since the message before; `away_ms`: for how long
 * in total.
 */
export interface Writing {
  away: number;
  away_ms: number;
  composed: number;
  longest_pause_ms: number;
  pasted: number;
  pastes: number;
  typed: number;
  writing_ms: number;
}
/**
 * The topic has changed: how, to what, and both sides' apparent opinions of it.
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
 * The worker ends the chat and goes on to rate.
 */
export interface EndConversation {
  attempt: number;
  conversation: number;
  id: string;
  type: "end_conversation";
}
/**
 * The worker's choice between two conversations, after line number `turn` of both.
 */
export interface Choose {
  attempt: number;
  conversation: number;
  id: string;
  preference: "left" | "right" | "tie";
  turn: number;
  type: "choose";
}
/**
 * One value for each rated criterion of the study, by its label: from 0 to 100, or the point of its
 * Likert scale, from 1.
 *
 * `answers` are those to the study's own questions, and to criteria that are not rated. `edit` is the
 * improved text, if the study asks for one and the text was not rated at the top. `side`: for a pair, the
 * side that is rated.
 */
export interface Rate {
  answers?: {
    [k: string]: number | string | string[] | Mark[];
  };
  attempt: number;
  conversation: number;
  edit?: string | null;
  id: string;
  ratings: {
    [k: string]: number;
  };
  side?: ("left" | "right") | null;
  type: "rate";
}
/**
 * The worker's rating of reply number `turn`: a point from 1. It replaces an earlier one.
 */
export interface RateTurn {
  attempt: number;
  conversation: number;
  id: string;
  turn: number;
  type: "rate_turn";
  value: number;
}
/**
 * A report of line number `turn` as unacceptable: the reason, and a note. It replaces an earlier report.
 *
 * `leave`: the worker leaves the study with the report, and is paid in full. `side`: for a pair, the side of
 * the line; none if both sides show the same line.
 */
export interface Report {
  attempt: number;
  conversation: number;
  id: string;
  leave?: boolean;
  note?: string;
  reason: "offensive" | "sexual" | "harm" | "personal" | "other";
  side?: ("left" | "right") | null;
  turn: number;
  type: "report";
}
/**
 * The report of line number `turn` is taken back. `side`: as in the report.
 */
export interface TakeBackReport {
  attempt: number;
  conversation: number;
  id: string;
  side?: ("left" | "right") | null;
  turn: number;
  type: "take_back_report";
}
/**
 * The number, from 1, of the quiz line that the worker thinks is their partner's.
 */
export interface AnswerQuiz {
  attempt: number;
  choice: number;
  conversation: number;
  id: string;
  type: "answer_quiz";
}
/**
 * The worker's comments for the researchers; empty if there are none. Submits the assignment.
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
 * Everything that a page needs to draw itself; sent on every connect.
 *
 * `code`, `return_to` and `debriefing` are as in `completed` or `ended`, and null until then.
 */
export interface Snapshot {
  code: string | null;
  conversation: ConversationCard | null;
  debriefing: string | null;
  phase: Phase;
  protocol: number;
  question: QuestionCard | null;
  quiz: QuizCard | null;
  return_to: string | null;
  study: StudyCard;
  type: "snapshot";
}
/**
 * The worker's current conversation: its number in the assignment, and the attempt, both from 1.
 *
 * `attempt` is above 1 if the conversation began again because a chatbot failed. `icebreaker` is the study's
 * opening topic, in the topic phase. `topic` is the current topic once the chat has begun; `opinion` and
 * `bot_opinion` are the worker's latest statements about it. `inputs` counts the worker's messages.
 * `typing`: a reply is due. `item` is an item to read and rate, in place of a chat. `scenario`: the
 * situation or task of the conversation. `choice_due`: the line after which the worker must choose between
 * two replies or conversations, null if there is nothing to choose now. `side`: the side of a pair to rate.
 * `reports`: the worker's reports of the conversation.
 */
export interface ConversationCard {
  attempt: number;
  bot_opinion: Opinion | null;
  choice_due: number | null;
  conversation: number;
  icebreaker: string | null;
  inputs: number;
  item: ItemContent | null;
  opinion: Opinion | null;
  reports: ReportCard[];
  scenario: string | null;
  side: ("left" | "right") | null;
  topic: string | null;
  turns: TurnCard[];
  typing: boolean;
}
/**
 * The content of an item, as shown to workers.
 *
 * A conversation has `lines`, and `topics` if they were recorded. A text has `text`. `context` is the
 * system's input, such as the passage to summarise, with the answer to a question as its `highlight`.
 * `paragraphs` may show whether an answer to the question in `context` is correct.
 */
export interface ItemContent {
  context: string | null;
  highlight: Highlight | null;
  lines: ItemLine[];
  paragraphs: string[];
  text: string | null;
  topics: ItemTopic[];
}
/**
 * The highlighted part of a context: its characters from `start` to before `end`, in code points.
 */
export interface Highlight {
  end: number;
  start: number;
}
/**
 * A line of a conversation: by the person who chatted, or by the chatbot that is judged.
 */
export interface ItemLine {
  author: "worker" | "bot";
  text: string;
}
/**
 * A topic of a conversation, recorded before its line number `line`, counted from 0.
 */
export interface ItemTopic {
  line: number;
  topic: string;
}
/**
 * The worker's report of line `turn`, if not taken back. `side`: for a pair, the side of the line.
 */
export interface ReportCard {
  note: string | null;
  reason: "offensive" | "sexual" | "harm" | "personal" | "other";
  side: ("left" | "right") | null;
  turn: number;
}
/**
 * One line of the conversation, as shown.
 *
 * `right`: the reply on the right, if two chatbots have answered; `text` is the one on the left then. If
 * replies appear word by word, the last one has its `pace`, in milliseconds a word, and `shown_for`, the
 * milliseconds since it began to appear. `value`: the worker's rating of a reply, a point from 1.
 */
export interface TurnCard {
  author: "worker" | "bot";
  pace: number | null;
  right: string | null;
  shown_for: number | null;
  text: string;
  turn: number;
  value: number | null;
}
/**
 * A test question, number `question` of `questions`: a text, a question about it, and the answers.
 *
 * `why` explains the question's right answer to a worker who has just given a wrong one.
 */
export interface QuestionCard {
  answers: string[];
  asked: string;
  question: number;
  questions: number;
  text: string;
  why: string | null;
}
/**
 * The quiz about a conversation, its number and attempt: the lines, of which the chat partner said one.
 *
 * If it is `about` personas, the lines are personas, with a sentence on each line of the text. The
 * conversation is not shown with it: otherwise a right answer would prove nothing.
 */
export interface QuizCard {
  about: "lines" | "personas";
  attempt: number;
  conversation: number;
  lines: string[];
}
/**
 * The facts about a study that a worker may know.
 *
 * `task`: workers chat, rate items, or chat with two chatbots side by side. `conversations` counts
 * conversations, items or pairs. `correctness`: they judge an answer by paragraphs. `comparison`: how they
 * compare the two. `rates_all`: they rate every conversation, not only some. `duration`: about how many
 * minutes it takes. `transcript_while_rating`: the conversation is visible while it is rated. `turn_points`:
 * the number of points for rating single replies; 2 means thumbs. `withdrawal_days`: for how many days after
 * the end they can download or withdraw their data. `records_writing`: the page sends with each message how
 * it was written, and tells the worker so. `moderation`: the check of lines; with `classifier` the worker is
 * told that a service does it. `contact`: the researchers' address. `lab`: whose name and logo the page has.
 * `words`: texts that replace the page's own.
 */
export interface StudyCard {
  comparison: ComparisonCard | null;
  consent: Consent | null;
  contact: string | null;
  conversations: number;
  correctness: boolean;
  criteria: CriterionCard[];
  display: Display;
  duration: number | null;
  lab: Lab | null;
  maximum_inputs: number;
  minimum_inputs: number;
  moderation: "words" | "classifier";
  payment: string;
  post_edit: PostEditCard | null;
  questionnaires: Questionnaires;
  rates_all: boolean;
  records_writing: boolean;
  task: "chat" | "transcripts" | "side_by_side";
  title: string;
  topic_mode: "free" | "icebreaker";
  transcript_while_rating: boolean;
  turn_points: number | null;
  withdrawal_days: number | null;
  words: TextsCard | null;
}
/**
 * The comparison of two chatbots: after each turn or at the end, with or without ties, and the question.
 *
 * `history`: each chatbot gets its own earlier replies (`own`), or those that the worker chose (`chosen`).
 */
export interface ComparisonCard {
  choose: "end" | "turn";
  history: "own" | "chosen";
  question: string | null;
  ties: boolean;
}
/**
 * The consent form. A blank line in `text` begins a new paragraph.
 */
export interface Consent {
  /**
   * The number of its approval. Leave empty if there is none.
   */
  board: string | null;
  /**
   * @maxItems 20
   */
  boxes: ConsentBox[];
  text: string;
  /**
   * Stored with every agreement. Change it whenever you change the text.
   */
  version: string;
}
/**
 * A box that a worker may tick, or must.
 */
export interface ConsentBox {
  /**
   * Its name in the data, made from the text.
   */
  label: string;
  required: boolean;
  text: string;
}
/**
 * A statement to rate. The label names the answer and is never shown. `scale`: null for a slider.
 */
export interface CriterionCard {
  label: string;
  scale: AnswerForm | null;
  statement: string;
}
/**
 * The form of an answer.
 *
 * `slider`: 0 to 100. `likert`: one of `points`, from 1. Both have words at their `ends`, or the points have
 * `labels`, one each. `choice` and `choices`: one, or any number, of the texts in `choices`. `number`: from
 * `least` to `most`, if given. `text`: free text. `span`: marks in a `text`, each of one of the `categories`
 * and `severities` if there are any. The text is the `output` of the system (its text, or its lines of a
 * conversation), the `context` of an item, or the words that are given.
 */
export interface AnswerForm {
  /**
   * Each mark has one of them; empty: none.
   *
   * @maxItems 50
   */
  categories: string[];
  /**
   * @maxItems 50
   */
  choices: string[];
  /**
   * Two lines: first the low end, then the high end.
   */
  ends: string[] | null;
  kind: "slider" | "likert" | "choice" | "choices" | "number" | "text" | "span";
  /**
   * One line for each point, from the lowest, instead of the labels of the ends.
   *
   * @maxItems 11
   */
  labels: string[];
  least: number | null;
  most: number | null;
  /**
   * From 2 to 11.
   */
  points: number | null;
  /**
   * Each mark has one of them; empty: none.
   *
   * @maxItems 11
   */
  severities: string[];
  text: ("output" | "context") | string | null;
}
/**
 * The display of replies, the same for all systems.
 */
export interface Display {
  /**
   * Show emphasis, lists and tables in replies.
   */
  markdown: boolean;
  /**
   * At the same pace for every bot.
   */
  streaming: boolean;
}
/**
 * The lab whose name, and logo if any, workers see at the top of the page in place of the program's.
 */
export interface Lab {
  /**
   * PNG, JPEG, WebP or SVG, up to 30 kB.
   */
  logo: string | null;
  name: string;
}
/**
 * A text rated below `top` on this criterion, named by its label, must be improved.
 */
export interface PostEditCard {
  criterion: string;
  top: number;
}
/**
 * Questions `before` the first conversation, with each rating, and `after` the last conversation.
 */
export interface Questionnaires {
  /**
   * @maxItems 50
   */
  after: AskedQuestion[];
  /**
   * @maxItems 50
   */
  before: AskedQuestion[];
  /**
   * @maxItems 50
   */
  conversation: AskedQuestion[];
}
/**
 * A question of a questionnaire. A question that is not `required` may be left unanswered.
 */
export interface AskedQuestion {
  /**
   * Each mark has one of them; empty: none.
   *
   * @maxItems 50
   */
  categories: string[];
  /**
   * @maxItems 50
   */
  choices: string[];
  /**
   * Two lines: first the low end, then the high end.
   */
  ends: string[] | null;
  kind: "slider" | "likert" | "choice" | "choices" | "number" | "text" | "span";
  /**
   * Its name in the data, made from the question.
   */
  label: string;
  /**
   * One line for each point, from the lowest, instead of the labels of the ends.
   *
   * @maxItems 11
   */
  labels: string[];
  least: number | null;
  most: number | null;
  /**
   * From 2 to 11.
   */
  points: number | null;
  question: string;
  required: boolean;
  /**
   * Each mark has one of them; empty: none.
   *
   * @maxItems 11
   */
  severities: string[];
  text: ("output" | "context") | string | null;
}
/**
 * The texts of a study's page that differ from the page's own, by their names.
 *
 * `language` is a tag such as `de` or `pt-BR`.
 */
export interface TextsCard {
  direction: "ltr" | "rtl";
  language: string;
  words: {
    [k: string]:
      | string
      | {
          [k: string]: string;
        };
  };
}
/**
 * The message with this id is on disk; everything that it led to was sent before.
 */
export interface Accepted {
  id: string;
  type: "accepted";
}
/**
 * Show the questionnaire before, or after, all conversations.
 */
export interface QuestionnaireDue {
  part: "before" | "after";
  type: "questionnaire_due";
}
/**
 * This test question is next, or again after a wrong answer.
 */
export interface QuestionDue {
  question: QuestionCard;
  type: "question_due";
}
/**
 * The worker's answer to a test question is right: this is why. What is due next follows.
 */
export interface AnswerExplained {
  type: "answer_explained";
  why: string;
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
  scenario: string | null;
  type: "topic_due";
}
/**
 * This item, of `conversations` in all, is next: show it and ask for its rating.
 */
export interface ItemDue {
  attempt: number;
  conversation: number;
  conversations: number;
  item: ItemContent;
  type: "item_due";
}
/**
 * The chat of this conversation, of `conversations` in all, is open.
 */
export interface ConversationStarted {
  attempt: number;
  conversation: number;
  conversations: number;
  scenario: string | null;
  topic: string;
  type: "conversation_started";
}
/**
 * The chatbot is about to reply.
 */
export interface Typing {
  attempt: number;
  conversation: number;
  type: "typing";
}
/**
 * The chatbot's reply: line number `turn` of the conversation, counted from 0.
 *
 * `pace`: the milliseconds for each word, to show it word by word; null: show it at once.
 */
export interface SaidByBot {
  attempt: number;
  conversation: number;
  pace: number | null;
  text: string;
  turn: number;
  type: "said";
}
/**
 * The replies of two chatbots, side by side: line number `turn` of the conversation, counted from 0.
 *
 * `pace`: as in `said`, for both.
 */
export interface SaidByBoth {
  attempt: number;
  conversation: number;
  left: string;
  pace: number | null;
  right: string;
  turn: number;
  type: "said_by_both";
}
/**
 * The conversation goes on with this one of the two replies at line number `turn`.
 */
export interface GoesOn {
  attempt: number;
  conversation: number;
  text: string;
  turn: number;
  type: "goes_on";
}
/**
 * The chat is over: choose between the two conversations, after line number `turn`.
 */
export interface ChoiceDue {
  attempt: number;
  conversation: number;
  turn: number;
  type: "choice_due";
}
/**
 * The chat is over: rate the conversation. `side`: for a pair, the side to rate.
 *
 * `cut_short`: who ended the chat, if not the worker: a chatbot that failed (either one of a pair), or a
 * researcher.
 */
export interface RatingDue {
  attempt: number;
  conversation: number;
  cut_short: ("chatbot" | "researcher") | null;
  side: ("left" | "right") | null;
  type: "rating_due";
}
/**
 * The conversation is rated: ask which of these lines or personas is its chat partner's.
 */
export interface QuizDue {
  quiz: QuizCard;
  type: "quiz_due";
}
/**
 * The chatbot failed; the conversation begins again with another one, as `attempt`.
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
 * The assignment is submitted: `code` proves it. `return_to`: the link for the worker afterwards.
 *
 * `debriefing`: the study's text for workers at the end.
 */
export interface Completed {
  code: string;
  debriefing: string | null;
  return_to: string | null;
  type: "completed";
}
/**
 * The assignment has ended without being submitted.
 *
 * `debriefing`: as in `completed`, for workers who had agreed. `return_to`: the link to the worker's
 * platform. `code`: the proof for workers who left with a report, who are paid in
 * full.
 */
export interface Ended {
  code: string | null;
  debriefing: string | null;
  phase: "expired" | "returned";
  return_to: string | null;
  type: "ended";
}
/**
 * A notice from the researchers, to be shown until the worker closes it. Sent again on every connect.
 *
 * `notice` is its number; a later notice may be shown beside an earlier one.
 */
export interface StudyNotice {
  notice: number;
  text: string;
  type: "notice";
}
/**
 * The session was opened elsewhere; this connection closes.
 */
export interface TakenOver {
  type: "taken_over";
}
/**
 * A message was refused. `retry`: the same message may be sent again later.
 *
 * `again_at`: when the run next admits newcomers, if it is outside its hours. `way_back`: where to return
 * the study, for newcomers from a platform whom the run does not admit.
 */
export interface Error {
  again_at: string | null;
  code: string;
  id: string | null;
  message: string;
  retry: boolean;
  type: "error";
  way_back: WayBackCard | null;
}
/**
 * The link with which workers who could not take part return the study. `to` pays nothing.
 */
export interface WayBackCard {
  platform: string;
  to: string | null;
}

/**
 * The version of the protocol that these types describe.
 */
export const PROTOCOL_VERSION = 6;

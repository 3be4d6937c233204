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
 *
 * Where the study has a consent: to which version of it, and which boxes, by their labels, are ticked.
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
    [k: string]: number | string | string[];
  };
  id: string;
  part: "before" | "after";
  type: "questionnaire";
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
 *
 * `writing`: how it was written, where the study records that.
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
 * How a worker has written one input, as their page counts it; a page can count wrongly, or lie.
 *
 * Characters that were written and taken out again count too; in what is kept (`kept`), those that were
 * pasted do not. `typed`: one at a time. `composed`: by an
 * input method, a correction, a suggestion or by voice: several at a time, and no paste. `pasted`: pasted or
 * dropped, `pastes` times.
 *
 * `writing_ms`: from the first change of the text to the last, `longest_pause_ms` between two of them.
 * `away`: how often the page lost the focus since the input before, and `away_ms`: for how long altogether.
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
 * Which of two conversations the worker prefers, after line number `turn` of both.
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
 * One value for every criterion of the study that is rated, by its label: from 0 to 100, or the point of
 * its Likert scale, from 1.
 *
 * `answers` are those to the study's own questions, and to criteria that are not rated. `edit` is the
 * improved text, where the study asks for it and the text was not rated at the top. `side`: of two
 * conversations beside each other, which one is rated.
 */
export interface Rate {
  answers?: {
    [k: string]: number | string | string[];
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
 * What the worker thinks of reply number `turn`: a point from 1. It takes the place of an earlier one.
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
 * Line number `turn` should not have been said: why, with a note. It takes an earlier report's place.
 *
 * `leave`: the worker leaves the study with it, and is paid in full. `side`: of two chatbots beside each
 * other, which one's line it is; none where both stand for one line.
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
 * What was reported of line number `turn` is taken back. `side`: as it was reported.
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
 * Which line of the quiz the worker says that their partner said, from 1.
 */
export interface AnswerQuiz {
  attempt: number;
  choice: number;
  conversation: number;
  id: string;
  type: "answer_quiz";
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
 *
 * `code`, `return_to` and `debriefing` are as in `completed` or `ended`, and None until then.
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
 * The conversation that the worker is in: its number in the assignment, and the attempt at it, from 1.
 *
 * `attempt` is above 1 where it started over, because a chatbot could not go on. `icebreaker` is the
 * opening topic picked by the study, in the topic phase. `topic` is the current topic once the chat has
 * begun; `opinion` and `bot_opinion` are what the worker last said of it. `inputs` counts the worker's
 * lines. `typing` says that a reply is due. `item` is what the worker reads and rates where there is nothing
 * to chat. `scenario`: the situation or the task of the conversation. `choice_due`: the line after which the
 * worker is to choose between two replies or conversations, None where there is nothing to choose now.
 * `side`: which of two is to be rated. `reports`: what the worker has reported of it.
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
 * What a worker is shown of an item.
 *
 * A conversation has `lines`, and `topics` where they were recorded. A text has `text`. `context` is what
 * the system was given, such as the passage that is to be summed up.
 */
export interface ItemContent {
  context: string | null;
  lines: ItemLine[];
  text: string | null;
  topics: ItemTopic[];
}
/**
 * A line of a conversation: the person's who chatted, or the chatbot's that is judged.
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
 * What the worker has reported of line `turn`, and not taken back. `side`: of two, whose line it is.
 */
export interface ReportCard {
  note: string | null;
  reason: "offensive" | "sexual" | "harm" | "personal" | "other";
  side: ("left" | "right") | null;
  turn: number;
}
/**
 * One line of the conversation as it stands on the screen.
 *
 * `right`: where two chatbots have answered, the reply on the right; `text` is the one on the left. Where
 * replies appear word by word, the last one has its `pace`, in milliseconds a word, and `shown_for`, the
 * milliseconds since it began to appear. `value`: what the worker thinks of a reply, a point from 1.
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
 * A test question, number `question` of `questions`: a text, what is asked of it, the answers.
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
 * No line of the conversation stands beside it: who may read it again shows nothing by a right answer.
 */
export interface QuizCard {
  attempt: number;
  conversation: number;
  lines: string[];
}
/**
 * What a worker may know of the study.
 *
 * `task`: they chat, rate what others have said or written, or chat with two chatbots side by side;
 * `conversations` then counts items, or pairs. `comparison`: how they compare the two.
 * `rates_all`: they rate every conversation that they hold, and not some of them only. `duration`: about how
 * many minutes it takes. `transcript_while_rating`: the conversation can be read while it is rated.
 * `turn_points`: on how many points single replies are rated; two are thumbs.
 * `withdrawal_days`: how long after the end they can download or withdraw what they gave.
 * `records_writing`: the page tells with each input how it was written, and the worker that it does.
 * `moderation`: by what lines are looked over; with `classifier` the worker is told that a service is.
 * `contact`: whom to write to. `words`: what the page says, where that is not what it says by itself.
 */
export interface StudyCard {
  comparison: ComparisonCard | null;
  consent: Consent | null;
  contact: string | null;
  conversations: number;
  criteria: CriterionCard[];
  display: Display;
  duration: number | null;
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
 * How two chatbots are compared: after each turn or at the end, whether ties are allowed, what is asked.
 *
 * `history`: both know what each has said itself (`own`), or what the worker has chosen (`chosen`).
 */
export interface ComparisonCard {
  choose: "end" | "turn";
  history: "own" | "chosen";
  question: string | null;
  ties: boolean;
}
/**
 * What a worker consents to. `board`: the number under which an ethics board approved the study.
 *
 * A line that is left blank in `text` begins a new paragraph.
 */
export interface Consent {
  board: string | null;
  /**
   * @maxItems 20
   */
  boxes: ConsentBox[];
  text: string;
  version: string;
}
/**
 * Something that a worker may tick; must, where it is `required`. `label` names it in the data.
 */
export interface ConsentBox {
  label: string;
  required: boolean;
  text: string;
}
/**
 * A statement to rate. The label keys the answer and is never shown. `scale`: None for a slider.
 */
export interface CriterionCard {
  label: string;
  scale: AnswerForm | null;
  statement: string;
}
/**
 * How something is answered.
 *
 * `slider`: 0 to 100; `likert`: one of `points`, from 1; both with words at their `ends`. `choice` and
 * `choices`: one, or any number, of the texts in `choices`. `number`: from `least` to `most`, where they
 * are given. `text`: free.
 */
export interface AnswerForm {
  /**
   * @maxItems 50
   */
  choices: string[];
  ends: string[] | null;
  kind: "slider" | "likert" | "choice" | "choices" | "number" | "text";
  least: number | null;
  most: number | null;
  points: number | null;
}
/**
 * How replies are shown, alike for all systems.
 *
 * `markdown`: as text with emphasis, lists and code, and not as it was written. `streaming`: word by word,
 * at a pace that is drawn, never the bot's own.
 */
export interface Display {
  markdown: boolean;
  streaming: boolean;
}
/**
 * A text that is rated below `top` on this criterion, named by its label, has to be improved.
 */
export interface PostEditCard {
  criterion: string;
  top: number;
}
/**
 * What workers are asked `before` the first conversation, with each rating, and `after` the last one.
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
 * A question of a questionnaire. One that is not `required` may be left without an answer.
 */
export interface AskedQuestion {
  /**
   * @maxItems 50
   */
  choices: string[];
  ends: string[] | null;
  kind: "slider" | "likert" | "choice" | "choices" | "number" | "text";
  label: string;
  least: number | null;
  most: number | null;
  points: number | null;
  question: string;
  required: boolean;
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
 * The message with this id is on disk; what it led to was sent before this.
 */
export interface Accepted {
  id: string;
  type: "accepted";
}
/**
 * Ask what the study asks before, or after, all conversations.
 */
export interface QuestionnaireDue {
  part: "before" | "after";
  type: "questionnaire_due";
}
/**
 * This test question is next, or once more after a wrong answer.
 */
export interface QuestionDue {
  question: QuestionCard;
  type: "question_due";
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
 * A reply is on its way.
 */
export interface Typing {
  attempt: number;
  conversation: number;
  type: "typing";
}
/**
 * The chatbot's reply: line number `turn` of the conversation, counted from 0.
 *
 * `pace`: it is to appear word by word, so many milliseconds each; None: at once.
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
 * `pace`: of both, as in `said`.
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
 * The conversation goes on with this one of the two replies that were line number `turn`.
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
 * The chat is over: rate the conversation. `side`: of two, which one.
 *
 * `cut_short`: who has ended it where the worker has not: a chatbot that could not go on, whichever of two
 * it was, or a researcher.
 */
export interface RatingDue {
  attempt: number;
  conversation: number;
  cut_short: ("chatbot" | "researcher") | null;
  side: ("left" | "right") | null;
  type: "rating_due";
}
/**
 * The conversation is rated: ask which of these lines its chat partner said.
 */
export interface QuizDue {
  quiz: QuizCard;
  type: "quiz_due";
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
 * The assignment is handed in: `code` proves it. `return_to`: where the worker is expected afterwards.
 *
 * `debriefing`: what the study tells about itself now that it is over.
 */
export interface Completed {
  code: string;
  debriefing: string | null;
  return_to: string | null;
  type: "completed";
}
/**
 * The assignment is over without being handed in.
 *
 * `debriefing`: as in `completed`, for who had agreed to take part. `return_to`: where the worker is
 * expected to say so, on the platform that they came from. `code`: of who left with a report, who is paid in
 * full, and proves it so.
 */
export interface Ended {
  code: string | null;
  debriefing: string | null;
  phase: "expired" | "returned";
  return_to: string | null;
  type: "ended";
}
/**
 * Words of the researchers: to be shown until the worker puts them away. Sent again on every connect.
 *
 * `notice` is their number; a later one may be shown beside an earlier.
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
 * `again_at`: when the run takes newcomers again, where it does not now because of its hours. `way_back`:
 * where a newcomer returns the study whom the run does not take, if they came from a platform.
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
 * Where somebody who could not take part returns the study. `to`: an address that pays nothing.
 */
export interface WayBackCard {
  platform: string;
  to: string | null;
}

/**
 * The version of the protocol that these types describe.
 */
export const PROTOCOL_VERSION = 6;

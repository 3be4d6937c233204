// Made from openapi.json by `npm run types`. Do not edit.

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
 * The researcher's interface.
 */
export interface Api {
  answers: Answers;
  pushed: Pushed;
  replies: Replies;
}
/**
 * What is answered to a GET, by path.
 */
export interface Answers {
  "/api/account": Account;
  "/api/account/ways-in": WaysIn;
  "/api/desk/assignments/{assignment}": AssignmentDetail;
  "/api/desk/assignments/{assignment}/simulation": SimulatedBeliefs;
  "/api/desk/audit": AuditPage;
  "/api/desk/bots": BotList;
  "/api/desk/bots/{name}": BotView;
  "/api/desk/bots/{name}/check": CheckView;
  "/api/desk/invitation-mail": MailAvailable;
  "/api/desk/people": PeopleList;
  "/api/desk/runs": RunList;
  "/api/desk/runs/{run}": RunDetail;
  "/api/desk/runs/{run}/analysis": LatestAnalysis;
  "/api/desk/runs/{run}/conversations": ConversationHits;
  "/api/desk/runs/{run}/credits": CreditView;
  "/api/desk/runs/{run}/crowd-question": CrowdQuestion;
  "/api/desk/runs/{run}/exports": ExportList;
  "/api/desk/runs/{run}/jobs/{job}": JobOutcome;
  "/api/desk/runs/{run}/narrowing": Narrowing;
  "/api/desk/runs/{run}/recruitment": RecruitmentView;
  "/api/desk/runs/{run}/recruitment/cost": RecruitmentCost;
  "/api/desk/runs/{run}/rehearsal-plan": RehearsalPlan;
  "/api/desk/runs/{run}/rehearsals": RehearsalList;
  "/api/desk/runs/{run}/reports": ReportList;
  "/api/desk/runs/{run}/rules": RunRules;
  "/api/desk/runs/{run}/wizard": WizardQueue;
  "/api/desk/runs/{run}/worker-ids": WorkerIdentities;
  "/api/desk/studies": StudyList;
  "/api/desk/studies/{study}": StudyDetail;
  "/api/desk/studies/{study}/people": StudyPeople;
  "/api/desk/studies/{study}/qc-examination": QcExamination;
  "/api/desk/studies/{study}/rehearsal-plan": RehearsalPlan;
  "/api/desk/studies/{study}/versions/{version}": VersionDetail;
  "/api/desk/studies/{study}/versions/{version}/changes": VersionChanges;
  "/api/desk/study-settings": StudySettings;
  "/api/desk/study-templates": StudyTemplates;
  "/api/desk/tokens": TokenList;
  "/api/desk/workers": WorkerHits;
}
/**
 * The caller, which is a person, a token, or the installation's own token, with its permissions.
 *
 * `permissions`: those that it has in at least one study. `has_password`: it has a password to change.
 */
export interface Account {
  has_password: boolean;
  kind: "person" | "token" | "installation";
  name: string;
  permissions: (
    | "see_runs"
    | "see_studies"
    | "read_api"
    | "have_account"
    | "read_transcripts"
    | "analyse"
    | "export"
    | "see_worker_ids"
    | "change_runs"
    | "change_studies"
    | "act_on_workers"
    | "rehearse"
    | "simulate"
    | "see_bots"
    | "see_metrics"
    | "create_studies"
    | "change_bots"
    | "manage_study_people"
    | "manage_people"
    | "manage_tokens"
    | "read_audit_log"
    | "forget_workers"
  )[];
  roles: StudyRole[];
}
/**
 * A role, and its study; None: for all studies.
 */
export interface StudyRole {
  role: "viewer" | "analyst" | "researcher" | "owner";
  study: string | null;
}
/**
 * Ways to sign in other than with a password.
 *
 * `provider`: the name of the OpenID provider, None without one. `refused`: the reason in words why a
 * sign-in failed.
 */
export interface WaysIn {
  provider: string | null;
  refused: string | null;
}
/**
 * All details of one assignment. `before`, `after`: the answers to its questionnaires.
 *
 * `writing`: statistics of the worker's writing, if recorded.
 */
export interface AssignmentDetail {
  after: AnswerRow[];
  assignment: string;
  before: AnswerRow[];
  conversations: ConversationDetail[];
  feedback: string | null;
  simulated: boolean;
  status: "active" | ("completed" | "returned" | "expired");
  worker: string;
  writing: WritingRow[];
}
/**
 * A worker's answer to a question of the study.
 *
 * `answers` has one entry per chosen option, or per mark. `marks`: marks in the conversation or item, in its
 * `output` or `context`.
 */
export interface AnswerRow {
  answers: string[];
  label: string;
  marked?: ("output" | "context") | null;
  marks?: Mark[];
  question: string;
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
 * One attempt of a conversation, or an item that was shown.
 *
 * `side`: the side of a side-by-side pair; the left conversation has the worker's `choices`. `number`: its
 * number on the worker's page, where a pair counts as one.
 */
export interface ConversationDetail {
  answers: AnswerRow[];
  attempt: number;
  choices: ChoiceRow[];
  family: string;
  incidents: NotedRow[];
  is_qc: boolean;
  item: ShownItemRow | null;
  number: number;
  persona: string[];
  position: number;
  ratings: RatingRow[];
  reports: MessageReportRow[];
  scenario: ScenarioRow | null;
  side: ("left" | "right") | null;
  status: "planned" | "active" | "ended" | "rated" | "unrated" | "failed" | "skipped";
  system: string;
  topic_marks: TopicRow[];
  turns: TurnRow[];
}
/**
 * The worker's preference between two side-by-side conversations, after turn `turn_index` of both.
 */
export interface ChoiceRow {
  preference: "left" | "right" | "tie";
  turn_index: number;
}
/**
 * An incident in a conversation, or offensive words.
 */
export interface NotedRow {
  kind: string;
  text: string;
}
/**
 * An item that was shown instead of a chat. `twin_of`: the position of the ordinary item it belongs to.
 *
 * `edited_text`: the text as improved by the worker, if the study asks for that.
 */
export interface ShownItemRow {
  content: ItemContent;
  edited_text: string | null;
  kind: "ordinary" | "bad" | "repeat" | "reference";
  twin_of: number | null;
}
/**
 * The content of an item, as shown to workers.
 *
 * A conversation has `lines`, and `topics` if they were recorded. A text has `text`. `context` is the
 * system's input, such as the passage to summarise, with the answer to a question as its `highlight`.
 * `paragraphs` may show whether an answer to the question in `context` is correct.
 */
export interface ItemContent {
  context?: string | null;
  highlight?: Highlight | null;
  lines?: ItemLine[];
  paragraphs?: string[];
  text?: string | null;
  topics?: ItemTopic[];
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
 * A worker's rating on one criterion, from 0 to 100.
 */
export interface RatingRow {
  criterion: string;
  statement: string;
  value: number;
}
/**
 * A worker's report of turn `turn_index`, or of a line of an item, and who has seen it.
 *
 * `leaves`: the worker left the study with it. `taken_back_at`: when they withdrew it or reported the turn
 * again.
 */
export interface MessageReportRow {
  created_at: string;
  id: number;
  leaves: boolean;
  note: string | null;
  reason: "offensive" | "sexual" | "harm" | "personal" | "other";
  seen_at: string | null;
  seen_by: string | null;
  taken_back_at: string | null;
  turn_index: number;
}
/**
 * The situation or task of a conversation, as the worker saw it.
 */
export interface ScenarioRow {
  label: string;
  text: string;
}
/**
 * A topic of a conversation. `how` and `bot_opinion` are None for the first topic.
 */
export interface TopicRow {
  bot_opinion: Opinion | null;
  how: TopicChangeKind | null;
  opinion: Opinion;
  round: number;
  topic: string;
}
/**
 * A turn of a conversation. A bot's reply has its latency in milliseconds, and the worker's rating.
 *
 * `pasted`: the number of pasted characters in a worker's message, if it was recorded.
 */
export interface TurnRow {
  author: "worker" | "bot";
  created_at: string;
  flags: FlagRow[];
  latency_ms: number | null;
  pasted: number | null;
  rating: PointRow | null;
  text: string;
  turn_index: number;
}
/**
 * A flag of a possibly offensive turn, set by a word list or a classifier.
 *
 * `reason`: the words found, or the classifier's categories. `seen_at`, `seen_by`: when and by whom a
 * classifier's flag was marked as seen.
 */
export interface FlagRow {
  by: "words" | "classifier";
  reason: string;
  seen_at?: string | null;
  seen_by?: string | null;
}
/**
 * A worker's rating of a single reply: point `point` of `points`. Two points are thumbs down and up.
 */
export interface PointRow {
  point: number;
  points: number;
}
/**
 * A measure of a worker's writing, with quartiles over the run's workers.
 *
 * `pasted`, `typed`: shares of all characters; `pace`: characters per minute that were not pasted; `pause`:
 * the longest pause in seconds; `away`: how often the page lost the focus, `away_seconds`: for how long.
 * `low`, `median`, `high`: quartiles over the `workers` with a known value; None for fewer than two.
 */
export interface WritingRow {
  high: number | null;
  low: number | null;
  measure: "pasted" | "typed" | "pace" | "pause" | "away" | "away_seconds";
  median: number | null;
  value: number | null;
  workers: number;
}
/**
 * A simulated worker's beliefs about the systems of its assignment.
 *
 * `answers`: the right answers to the tutorial's questions, in order.
 */
export interface SimulatedBeliefs {
  answers: number[];
  conversations: SystemQuality[];
  criteria: CriterionSigns[];
}
/**
 * The quality of a conversation as a simulated worker perceives it, from 0 (bad) to 1 (good).
 *
 * `system`: the system of a chat. `item`: the item, if items are rated; an item, its repeat and its twins
 * have the same name.
 */
export interface SystemQuality {
  attempt: number;
  conversation: number;
  item: string | null;
  quality: number;
  system: string | null;
}
/**
 * A criterion. `negative`: agreement is bad for a system. `qc`: it counts for the worker filter.
 */
export interface CriterionSigns {
  label: string;
  negative: boolean;
  qc: boolean;
}
/**
 * Entries of the log, newest first. `more`: there are older ones; get them with `before`, the last id.
 */
export interface AuditPage {
  entries: AuditRow[];
  more: boolean;
}
/**
 * An entry of the audit log. `kind`: of the actor: person, token, installation, command or server.
 */
export interface AuditRow {
  action: string;
  actor: string;
  at: string;
  detail: string;
  id: number;
  kind: string;
  subject: string;
}
/**
 * All registered bots, by name.
 */
export interface BotList {
  bots: BotView[];
}
/**
 * A registered bot. `used_by`: the open runs that use it and that the caller may see.
 */
export interface BotView {
  check: LastCheck | null;
  created_at: string;
  enabled: boolean;
  endpoint:
    | HttpEndpoint
    | OpenAiEndpoint
    | AnthropicEndpoint
    | GeminiEndpoint
    | BedrockEndpoint
    | ParlaiWebEndpoint
    | DialInEndpoint;
  name: string;
  overruns: Overruns;
  replicas: ReplicaState[];
  used_by: string[];
}
/**
 * The time and verdict of a bot's latest check.
 */
export interface LastCheck {
  at: string;
  verdict: "pass" | "warn" | "fail";
}
/**
 * Equivalent servers of Candor's own contract (`bots.endpoints.http`).
 */
export interface HttpEndpoint {
  /**
   * Not the key itself: the name of the server’s environment variable that holds it. CANDOR_BOT_KEYS has to allow it for this address. Leave it empty if no key is needed.
   */
  key?: string | null;
  kind: "http";
  /**
   * @minItems 1
   * @maxItems 100
   */
  urls: string[];
}
/**
 * Interchangeable servers with OpenAI's API for chat completions.
 *
 * A url ends before `/chat/completions` (mostly in `/v1`). The key goes into `key_header`: into
 * Authorization as a bearer token, into any other header as it is (Azure: `api-key`). `query` is sent with
 * every request. `stream` is for servers that answer in streams only. `instructions`, `alternating` and
 * `parts` are for models whose chat template takes no system message, no two messages of one author in a
 * row, or only lists of parts: a check of the bot says which to set.
 */
export interface OpenAiEndpoint {
  /**
   * For models that refuse two of them. The check says so.
   */
  alternating?: boolean;
  /**
   * JSON that is added to every request, for settings without a field here. Null removes a field.
   */
  extra_body?: {
    [k: string]: unknown;
  };
  /**
   * Sent with every request. Do not put a key here.
   */
  headers?: {
    [k: string]: string;
  };
  /**
   * For models without a system message. The check says which one a model takes.
   */
  instructions?: "system" | "developer" | "first_message";
  /**
   * Not the key itself: the name of the server’s environment variable that holds it. CANDOR_BOT_KEYS has to allow it for this address. Leave it empty if no key is needed.
   */
  key?: string | null;
  /**
   * For services that do not use a bearer token. For Azure, api-key.
   */
  key_header?: string;
  kind: "openai";
  /**
   * For reasoning models, which use this limit instead.
   */
  max_completion_tokens?: number | null;
  /**
   * A longer reply is cut after its last full sentence.
   */
  max_tokens?: number | null;
  /**
   * As the service names it.
   */
  model: string;
  /**
   * For models that take no plain text. The check says so.
   */
  parts?: boolean;
  /**
   * In any currency. Spending caps use it.
   */
  price?: Price | null;
  /**
   * The model’s instructions. {persona} is replaced by the persona. Without a persona, that paragraph is left out.
   */
  prompt?: string;
  /**
   * Added to the address of every request, such as Azure’s api-version.
   */
  query?: {
    [k: string]: string;
  };
  /**
   * Such as minimal, low, medium or high, as the model accepts. If empty, the model’s default.
   */
  reasoning_effort?: string | null;
  /**
   * Failure: retry and report it. Reply: show the refusal to the worker.
   */
  refusals?: "failure" | "reply";
  /**
   * A whole number, for services that accept one.
   */
  seed?: number | null;
  /**
   * In the currency of the price. A bot that reaches it stops answering.
   */
  spending_cap?: number | null;
  /**
   * The model stops before it writes one of these.
   */
  stop?: string[] | null;
  /**
   * For servers that only stream their replies.
   */
  stream?: boolean;
  /**
   * From 0 to 2. If empty, the service’s default. Reasoning models do not accept it.
   */
  temperature?: number | null;
  /**
   * Above 0, up to 1. If empty, the service’s default.
   */
  top_p?: number | null;
  /**
   * @minItems 1
   * @maxItems 100
   */
  urls: string[];
}
/**
 * The price of a million tokens, in any currency.
 *
 * `input`: of tokens sent. `output`: of tokens generated, thoughts included.
 */
export interface Price {
  input: number;
  /**
   * Includes reasoning.
   */
  output: number;
}
/**
 * Anthropic's Messages API. A url ends before `/messages`. `max_tokens` is required by the API.
 */
export interface AnthropicEndpoint {
  /**
   * JSON that is added to every request, for settings without a field here. Null removes a field.
   */
  extra_body?: {
    [k: string]: unknown;
  };
  /**
   * Sent with every request. Do not put a key here.
   */
  headers?: {
    [k: string]: string;
  };
  /**
   * Not the key itself: the name of the server’s environment variable that holds it. CANDOR_BOT_KEYS has to allow it for this address. Leave it empty if no key is needed.
   */
  key?: string | null;
  kind: "anthropic";
  /**
   * A longer reply is cut after its last full sentence.
   */
  max_tokens?: number;
  /**
   * As the service names it.
   */
  model: string;
  /**
   * In any currency. Spending caps use it.
   */
  price?: Price | null;
  /**
   * The model’s instructions. {persona} is replaced by the persona. Without a persona, that paragraph is left out.
   */
  prompt?: string;
  /**
   * Failure: retry and report it. Reply: show the refusal to the worker.
   */
  refusals?: "failure" | "reply";
  /**
   * In the currency of the price. A bot that reaches it stops answering.
   */
  spending_cap?: number | null;
  /**
   * The model stops before it writes one of these.
   */
  stop?: string[] | null;
  /**
   * From 0 to 2. If empty, the service’s default. Reasoning models do not accept it.
   */
  temperature?: number | null;
  /**
   * Above 0, up to 1. If empty, the service’s default.
   */
  top_p?: number | null;
  /**
   * @minItems 1
   * @maxItems 100
   */
  urls?: string[];
}
/**
 * Google's Gemini API, generateContent. A url ends before `/models`.
 */
export interface GeminiEndpoint {
  /**
   * JSON that is added to every request, for settings without a field here. Null removes a field.
   */
  extra_body?: {
    [k: string]: unknown;
  };
  /**
   * Sent with every request. Do not put a key here.
   */
  headers?: {
    [k: string]: string;
  };
  /**
   * Not the key itself: the name of the server’s environment variable that holds it. CANDOR_BOT_KEYS has to allow it for this address. Leave it empty if no key is needed.
   */
  key?: string | null;
  kind: "gemini";
  /**
   * A longer reply is cut after its last full sentence.
   */
  max_tokens?: number | null;
  /**
   * As the service names it.
   */
  model: string;
  /**
   * In any currency. Spending caps use it.
   */
  price?: Price | null;
  /**
   * The model’s instructions. {persona} is replaced by the persona. Without a persona, that paragraph is left out.
   */
  prompt?: string;
  /**
   * Failure: retry and report it. Reply: show the refusal to the worker.
   */
  refusals?: "failure" | "reply";
  /**
   * A whole number, for services that accept one.
   */
  seed?: number | null;
  /**
   * In the currency of the price. A bot that reaches it stops answering.
   */
  spending_cap?: number | null;
  /**
   * The model stops before it writes one of these.
   */
  stop?: string[] | null;
  /**
   * From 0 to 2. If empty, the service’s default. Reasoning models do not accept it.
   */
  temperature?: number | null;
  /**
   * Above 0, up to 1. If empty, the service’s default.
   */
  top_p?: number | null;
  /**
   * @minItems 1
   * @maxItems 100
   */
  urls?: string[];
}
/**
 * Amazon Bedrock's Converse at https://bedrock-runtime.REGION.amazonaws.com, with a Bedrock API key.
 */
export interface BedrockEndpoint {
  /**
   * JSON that is added to every request, for settings without a field here. Null removes a field.
   */
  extra_body?: {
    [k: string]: unknown;
  };
  /**
   * Sent with every request. Do not put a key here.
   */
  headers?: {
    [k: string]: string;
  };
  /**
   * Not the key itself: the name of the server’s environment variable that holds it. CANDOR_BOT_KEYS has to allow it for this address. Leave it empty if no key is needed.
   */
  key?: string | null;
  kind: "bedrock";
  /**
   * A longer reply is cut after its last full sentence.
   */
  max_tokens?: number | null;
  /**
   * As the service names it.
   */
  model: string;
  /**
   * In any currency. Spending caps use it.
   */
  price?: Price | null;
  /**
   * The model’s instructions. {persona} is replaced by the persona. Without a persona, that paragraph is left out.
   */
  prompt?: string;
  /**
   * Failure: retry and report it. Reply: show the refusal to the worker.
   */
  refusals?: "failure" | "reply";
  /**
   * In the currency of the price. A bot that reaches it stops answering.
   */
  spending_cap?: number | null;
  /**
   * The model stops before it writes one of these.
   */
  stop?: string[] | null;
  /**
   * From 0 to 2. If empty, the service’s default. Reasoning models do not accept it.
   */
  temperature?: number | null;
  /**
   * Above 0, up to 1. If empty, the service’s default.
   */
  top_p?: number | null;
  /**
   * @minItems 1
   * @maxItems 100
   */
  urls: string[];
}
/**
 * Equivalent processes of ParlAI's `interactive_web`, for the exclusive use of this server.
 */
export interface ParlaiWebEndpoint {
  kind: "parlai-web";
  /**
   * @minItems 1
   * @maxItems 100
   */
  urls: string[];
}
/**
 * Any number of equivalent bot hosts that connect to the server by themselves.
 */
export interface DialInEndpoint {
  kind: "dial-in";
}
/**
 * How many of a bot's replies to workers came later than their natural reply time.
 */
export interface Overruns {
  overran: number;
  replies: number;
}
/**
 * Calls and failures of a replica, and whether it is used.
 *
 * `calls` and `failures` are counted since it was added. `last_error` is the reason of the latest failure.
 * `state` is "fine", "failing" after a failure, or "resting" while it gets no calls.
 */
export interface ReplicaState {
  calls: number;
  failures: number;
  in_flight: number;
  last_error: string | null;
  state: "fine" | "failing" | "resting";
  url: string;
}
/**
 * A running or ended check. `report` is set when it has finished, `error` when it has failed.
 */
export interface CheckView {
  at: string;
  done: number;
  error: string | null;
  report: ConformanceReport | null;
  state: "running" | "finished" | "failed";
  total: number;
}
/**
 * Whether a bot is fit for workers: the verdict is that of the worst finding.
 *
 * `calls`: number of calls. `stopped`: the bot failed so often that the check ended early.
 * `expected_overruns`: the share of its replies that would come later than the natural reply time. `scope`:
 * the conditions of the check; None in older stored reports.
 */
export interface ConformanceReport {
  calls: number;
  expected_overruns: number | null;
  /**
   * @minItems 1
   */
  findings: Finding[];
  latency: Latency;
  scope?: Scope | null;
  stopped: boolean;
  transcripts: CheckTranscript[];
  verdict: "pass" | "warn" | "fail";
  version?: 1;
}
/**
 * The answer to one question about a bot.
 */
export interface Finding {
  question: string;
  reason: string;
  verdict: "pass" | "warn" | "fail";
}
/**
 * Reply times; None if the check ended before measuring them.
 */
export interface Latency {
  alone?: Alone | null;
  at_once?: AtOnce | null;
}
/**
 * Seconds taken by `n` calls, one after the other; a timed-out call counts with its time.
 */
export interface Alone {
  n: number;
  p50: number;
  p95: number;
}
/**
 * Seconds taken by `n` calls in so many simultaneous `conversations`.
 */
export interface AtOnce {
  conversations: number;
  n: number;
  p50: number;
  p95: number;
}
/**
 * The conditions of a check: the language, and whether the bot had a persona; None: no study said so.
 */
export interface Scope {
  language: string;
  persona: boolean | null;
}
/**
 * A scripted conversation with the bot's replies.
 */
export interface CheckTranscript {
  lines: ReportLine[];
  name: string;
  persona: string[];
}
/**
 * A line of a transcript. A bot's line has the `seconds` that it took, or an `error` in its place.
 */
export interface ReportLine {
  author: "worker" | "bot";
  error?: string | null;
  seconds?: number | null;
  text: string;
}
/**
 * Whether the server can send invitations by e-mail.
 */
export interface MailAvailable {
  available: boolean;
}
/**
 * All accounts of the desk, by name.
 */
export interface PeopleList {
  people: PersonRow[];
}
/**
 * An account of the desk. `has_password`: its owner has chosen a password.
 *
 * `link_expires_at`: when its open link for choosing a password expires; None if it has no link.
 */
export interface PersonRow {
  created_at: string;
  has_password: boolean;
  link_expires_at: string | null;
  name: string;
  roles: StudyRole[];
}
/**
 * Every run, newest first.
 */
export interface RunList {
  runs: RunSummary[];
}
/**
 * A summary of a run, with separate numbers for people and for simulated workers.
 *
 * `cause` and `reason` explain its status: the kind of cause, and a sentence if somebody gave one. `places`:
 * the number of assignments that its rules or study want, None if unknown. `minutes_to_go`: the time until
 * all of them are submitted, at the pace of the last hour; None if it cannot be estimated. `waiting`: the
 * number of workers whose bot has failed to reply.
 */
export interface RunSummary {
  assignments: AssignmentCounts;
  cause: "researcher" | "target" | "budget";
  conversations_rated: number;
  created_at: string;
  limits: RunLimits;
  minutes_to_go: number | null;
  places: number | null;
  reason: string;
  run: string;
  simulated: AssignmentCounts;
  simulated_conversations_rated: number;
  status: "open" | "paused" | "closed";
  study: string;
  title: string;
  waiting: number;
  worker_link: string;
}
/**
 * The number of a run's assignments by status.
 */
export interface AssignmentCounts {
  active: number;
  completed: number;
  expired: number;
  returned: number;
}
/**
 * The rules of a run and how far they are used up. They apply to people, not to simulated workers.
 *
 * `target`: the run's target in words; empty if it has none. `places_open`: how many more workers may begin
 * now; None: no limit. `opens_at`: when the run's opening hours begin again; None: they have not ended.
 * `spent`: the cost with fees of assignments that are paid in full. `retention`: when words and ids of
 * workers are removed, in words; empty if they are kept.
 */
export interface RunLimits {
  budget: number | null;
  currency: string;
  opens_at: string | null;
  places_open: number | null;
  retention: string;
  spent: number | null;
  target: string;
}
/**
 * A run with the progress of its systems, and its assignments, newest first.
 *
 * `systems` and `funnel` are about people; simulated workers have their own. `incidents` has the latest
 * ones.
 */
export interface RunDetail {
  analysis: RunAnalysis | null;
  assignments: AssignmentCounts;
  attention: Attention[];
  bots: BotReplies[];
  cause: "researcher" | "target" | "budget";
  conversations_rated: number;
  created_at: string;
  funnel: FunnelStep[];
  incidents: IncidentRow[];
  limits: RunLimits;
  minutes_to_go: number | null;
  places: number | null;
  reason: string;
  run: string;
  simulated: AssignmentCounts;
  simulated_conversations_rated: number;
  simulated_funnel: FunnelStep[];
  simulated_systems: SystemProgress[];
  status: "open" | "paused" | "closed";
  study: string;
  systems: SystemProgress[];
  title: string;
  waiting: number;
  worker_link: string;
  workers: AssignmentRow[];
}
/**
 * The latest analysis of a run. `widest`: the width of the widest interval, in units of z.
 */
export interface RunAnalysis {
  at: string;
  notes: string[];
  pass_rate: PassCounts;
  ratings: number;
  scores: ScoreStanding[];
  widest: number | null;
  workers: WorkerStanding[];
}
/**
 * The number of workers who pass the filter so far, fail it, or have not rated enough yet.
 */
export interface PassCounts {
  failed: number;
  passed: number;
  undecided: number;
}
/**
 * The interim score of a system. `low` and `high`: a confidence sequence, valid at any time.
 */
export interface ScoreStanding {
  conversations: number;
  high: number | null;
  low: number | null;
  raters: number;
  system: string;
  z: number | null;
}
/**
 * The p-value of the worker filter from a worker's ratings so far; None if there are too few.
 */
export interface WorkerStanding {
  conversations: number;
  p: number | null;
  worker: string;
}
/**
 * Something that a researcher should see. `urgent`: workers are waiting, or data are being lost.
 *
 * `system` and `assignments` name its subject. `workers`: what the assignments have in common: their workers
 * wait for a bot, have closed their page, or have reported a message, or a turn is flagged.
 */
export interface Attention {
  assignments?: string[];
  system?: string | null;
  text: string;
  urgent: boolean;
  workers?: ("waiting" | "away" | "reported" | "flagged") | null;
}
/**
 * Statistics of the replies of a system's bot, over all workers.
 *
 * `floor_ms`: the typing-time floor. While `p95_ms` is below it, workers cannot recognise the bot by its
 * pace. `late`: replies to people that came after their planned delay. `failed_tries`: all failed attempts,
 * by kind; `failing`: failed attempts since the last reply. `offensive`: replies with listed words;
 * `flagged`: replies flagged by the moderation service. `replicas`: the replicas of a registered bot, by
 * state.
 */
export interface BotReplies {
  bot: string;
  failed_tries: {
    [k: string]: number;
  };
  failing: number;
  flagged: number;
  floor_ms: number;
  gave_away: number;
  late: number;
  offensive: number;
  p50_ms: number | null;
  p95_ms: number | null;
  replicas: {
    [k: string]: number;
  };
  replies: number;
  system: string;
}
/**
 * A step of an assignment: how many workers reached it, are there now, and stopped there.
 *
 * `position` counts conversations from 1; None for the steps before and after them.
 */
export interface FunnelStep {
  lost: number;
  now: number;
  position: number | null;
  reached: number;
  step: Phase;
}
/**
 * Something that went wrong in a conversation.
 */
export interface IncidentRow {
  assignment: string;
  at: string;
  failure: string | null;
  kind: string;
  simulated: boolean;
  system: string;
  text: string;
  worker: string;
}
/**
 * A system's conversations or items, by status.
 *
 * `unrated`: those that workers were not asked to rate. `aim`: the number for perfect balance once every
 * slot is filled, or by now if the number of slots is unlimited; None for items.
 */
export interface SystemProgress {
  active: number;
  aim: number | null;
  failed: number;
  family: string;
  inputs: number;
  is_qc: boolean;
  planned: number;
  rated: number;
  skipped: number;
  system: string;
  unrated: number;
}
/**
 * An assignment in the list of its run. `worker` is a pseudonym.
 *
 * `step`: the worker's current or last step. `position`, `system` and `inputs_here`: the number, system and
 * messages of the conversation there; a side-by-side pair counts as one, with the left system. `away_since`:
 * when the worker's page was closed, None while it is open. `excluded`: why analyses exclude it, None if
 * they do not. `failed_tries`: failed attempts to get the reply that the worker waits for. `active_at`: the
 * worker's last activity. `p`: the interim p-value of the worker filter in the latest analysis.
 * `left_with_report`: the worker reported a message and left.
 */
export interface AssignmentRow {
  active_at: string | null;
  assignment: string;
  away_since: string | null;
  completion_code: string | null;
  conversations_rated: number;
  ended_at: string | null;
  excluded: string | null;
  failed_tries: number;
  inputs: number;
  inputs_here: number;
  left_with_report: boolean;
  p: number | null;
  position: number | null;
  simulated: boolean;
  started_at: string | null;
  status: "active" | ("completed" | "returned" | "expired");
  step: Phase;
  system: string | null;
  worker: string;
}
/**
 * The latest interim analysis of a run, as printed by `candor watch`; None: nothing was rated yet.
 */
export interface LatestAnalysis {
  analysis: {
    [k: string]: unknown;
  } | null;
}
/**
 * A page of conversations, newest first. `after`: the argument for the next page; None on the last.
 */
export interface ConversationHits {
  after: string | null;
  conversations: ConversationHit[];
}
/**
 * A conversation found by a search. `line`: its first turn with the searched words, if any.
 */
export interface ConversationHit {
  assignment: string;
  conversation: string;
  incidents: number;
  inputs: number;
  line: string | null;
  position: number;
  simulated: boolean;
  started_at: string | null;
  status: "planned" | "active" | "ended" | "rated" | "unrated" | "failed" | "skipped";
  system: string;
  worker: string;
}
/**
 * The credits of a run. `asked_by_server`: the server requests them, as set in the study.
 */
export interface CreditView {
  asked_by_server: boolean;
  credits: CreditRow[];
}
/**
 * The state of the credit of a worker who has submitted. `due`: not requested yet.
 *
 * `granted`: SONA has granted it. `refused`: SONA gave any other answer, and a researcher must decide.
 * `unreachable`: SONA did not answer, and the request will be repeated.
 */
export interface CreditRow {
  reason: string;
  status: "due" | "granted" | "refused" | "unreachable";
  tried_at: string | null;
  worker: string;
}
/**
 * The cost of simulated workers in words, to be confirmed first; None if they cost nothing.
 */
export interface CrowdQuestion {
  question: string | null;
}
/**
 * The exports of a run, newest first. Old ones are removed, after `kept_days`.
 */
export interface ExportList {
  exports: ExportJob[];
  kept_days: number;
}
/**
 * An export. `files` has its one file when it is done.
 */
export interface ExportJob {
  created_at: string;
  done: number;
  ended_at: string | null;
  error: string | null;
  files: JobFile[];
  job: string;
  kind: "report" | "rehearsal" | "export";
  options: ExportOptions;
  run: string;
  status: "running" | "done" | "failed" | "cancelled";
  step: string;
  total: number;
}
/**
 * A file of a report or an export, with the path of a download that is valid for some hours.
 */
export interface JobFile {
  bytes: number;
  name: string;
  path: string;
}
/**
 * Options of an export. `format`: as in `candor data export`.
 */
export interface ExportOptions {
  format: "hits_data" | "jsonl" | "parquet" | "csv" | "bundle";
}
/**
 * A job of any kind, with its result. The fields of other kinds are empty.
 */
export interface JobOutcome {
  created_at: string;
  done: number;
  ended_at: string | null;
  error: string | null;
  files: JobFile[];
  forecast: Forecast | null;
  job: string;
  kind: "report" | "rehearsal" | "export";
  run: string;
  signature: string | null;
  status: "running" | "done" | "failed" | "cancelled";
  step: string;
  total: number;
  trouble: string | null;
}
/**
 * The forecast of a rehearsal, as printed by `python -m qc.planning.outlook`.
 *
 * `minutes`: the duration of an assignment. `apart`: the probability that the `first` and the `second`
 * system are told apart. `needed`: the workers needed for a probability of `power`, None if that is
 * unaffordable. `assumed`: assumptions in sentences. `curve`: power by number of workers, to be drawn; older
 * forecasts have none.
 */
export interface Forecast {
  apart: number;
  assumed: string[];
  chances: NumberForecast[];
  cost: number | null;
  curve?: PowerPoint[];
  difference: number;
  first: string;
  minutes: number;
  needed: number | null;
  passed: number;
  plan: PlannedStudy;
  power: number;
  rehearsed: number;
  scores: SystemForecast[];
  second: string;
}
/**
 * The forecast for a number of workers: widest half-width, power for the first two systems, and cost.
 */
export interface NumberForecast {
  apart: number;
  cost: number | null;
  half_width: number;
  workers: number;
}
/**
 * The power for the first two systems with a number of workers.
 */
export interface PowerPoint {
  apart: number;
  workers: number;
}
/**
 * The planned study: workers with one assignment each, `pay` per assignment, `fee` as a share of it.
 */
export interface PlannedStudy {
  conversations: number;
  fee: number;
  inputs: number;
  pay: number | null;
  workers: number;
}
/**
 * A system's score from simulated workers, and the half-width of its interval for the planned study.
 */
export interface SystemForecast {
  half_width: number;
  system: string;
  z: number;
}
/**
 * The history of the intervals of a run's scores, thinned out to a limited number of points.
 *
 * `target`: the run ends as soon as all intervals are narrower; None if it has another target.
 */
export interface Narrowing {
  points: ScoresThen[];
  target: number | null;
}
/**
 * The scores of a run at the time when it had `ratings` ratings.
 */
export interface ScoresThen {
  ratings: number;
  scores: ScorePoint[];
}
/**
 * The score of a system at some time, with its interval from `low` to `high`; None: no score yet.
 */
export interface ScorePoint {
  high: number | null;
  low: number | null;
  system: string;
  z: number | null;
}
/**
 * Recruiting for a run.
 *
 * `possible`: its study names a supported platform, called `platform`; null if it names none. `connected`:
 * the server has access to it, by the setting `token_variable`. `platforms`: all supported ones. `minutes`:
 * the duration according to the study file. `lost_events`: the number of the platform's events, for any run,
 * that did not reach this server; `lost_at`: when the last of them was found.
 */
export interface RecruitmentView {
  connected: boolean;
  lost_at: string | null;
  lost_events: number;
  minutes: number | null;
  platform: string | null;
  platforms: PlatformRow[];
  possible: boolean;
  recruitment: RecruitmentDetail | null;
  token_variable: string | null;
}
/**
 * A supported platform. `connected`: the server has access to it, by the setting `token_variable`.
 */
export interface PlatformRow {
  connected: boolean;
  kind: string;
  title: string;
  token_variable: string;
}
/**
 * A run's study on a platform. Amounts are cents of `currency`; None: not known yet.
 *
 * `fault`: why the latest reading failed. While `status` is DRAFTING, the platform has not answered the
 * request to create it, and `study` is empty. `rejection_categories`: their names, the most usual one first.
 */
export interface RecruitmentDetail {
  batches: BatchRow[];
  created_at: string;
  created_by: string;
  currency: string | null;
  differences: DifferenceRow[];
  fault: string | null;
  pays_screen_outs: boolean;
  places: number;
  platform: string;
  read_at: string | null;
  rejection_categories: {
    [k: string]: string;
  };
  reward: number;
  status: string;
  study: string;
  submissions: SubmissionRow[];
}
/**
 * Bonuses that are paid together. `total` includes the platform's fees and tax.
 *
 * `state`: `prepared`: nothing is paid; `unknown`: the paying call has no answer yet; `sent`: the platform
 * has accepted it; `paid`: all payments were seen at the platform.
 */
export interface BatchRow {
  batch: number;
  bonuses: BonusRow[];
  prepared_at: string;
  prepared_by: string;
  purpose: string;
  sent_at: string | null;
  state: "prepared" | "unknown" | "sent" | "paid";
  total: number;
}
/**
 * A bonus, in cents. `seen_paid`: whether its payment was seen at the platform.
 */
export interface BonusRow {
  cents: number;
  seen_paid: boolean;
  submission: string;
}
/**
 * A difference between the platform's records and ours, with its remedy.
 *
 * `decision`: the number of the decision about the submission.
 */
export interface DifferenceRow {
  assignment: string | null;
  batch: number | null;
  decision: number | null;
  kind:
    | "decision_not_carried_out"
    | "settled_otherwise"
    | "left_there"
    | "finished_after_giving_up"
    | "not_handed_in"
    | "wrong_code"
    | "stopped_by_us"
    | "handed_in_unfinished"
    | "never_seen_here"
    | "not_known_there"
    | "bonus_not_paid"
    | "other_currency";
  remedy:
    | "repeat"
    | "decide_again"
    | "release"
    | "approve"
    | "remind"
    | "partial"
    | "request_return"
    | "exclude"
    | "look"
    | "change_budget";
  share: number | null;
  submission: string | null;
  worker: string | null;
}
/**
 * A submission, with the platform's record and ours.
 *
 * `ending`: the ending of its completion code; None without a code of the study. `here`: the status of the
 * assignment; None if the participant never came here. `paid_share`: the known paid share of the reward in
 * per cent. `bonus_sent`: cents of bonuses that were sent and not seen paid yet; `bonus_paid`: cents of
 * bonuses that were seen paid.
 */
export interface SubmissionRow {
  assignment: string | null;
  bonus_paid: number;
  bonus_sent: number;
  completed_at: string | null;
  conversations: number;
  decision: DecidedPay | null;
  ending: string | null;
  here: string | null;
  paid_share: number | null;
  proposal: ProposedPay | null;
  rated: number;
  started_at: string;
  status: string;
  submission: string;
  worker: string | null;
}
/**
 * A decision about a submission's pay. `number`: identifies it in a later decision that replaces it.
 */
export interface DecidedPay {
  category: string | null;
  decided_at: string;
  decided_by: string;
  decision: "approve" | "reject" | "partial" | "screen_out" | "request_return";
  number: number;
  reason: string;
  share: number | null;
}
/**
 * The proposed pay of a submission, with the reason. `nothing`: it could be rejected.
 */
export interface ProposedPay {
  pay: "all" | "part" | "nothing";
  share: number | null;
  why: string;
}
/**
 * What a study costs at the platform: so far (`spent`), and for all its places (`projected`).
 */
export interface RecruitmentCost {
  currency: string | null;
  projected: CostRow;
  spent: CostRow;
}
/**
 * A cost in cents. `fees`: the platform's fees, with tax.
 */
export interface CostRow {
  bonuses: number;
  fees: number;
  rewards: number;
  total: number;
}
/**
 * The calls of a rehearsal with that many simulated workers, by bot.
 */
export interface RehearsalPlan {
  bots: PlannedBotCalls[];
  workers: number;
}
/**
 * The calls of one bot in a rehearsal, about. `hosts`: those that are called; none if it runs here.
 *
 * `price`: of a million tokens, if one is set. `cost`: by that price, 0 if it costs nothing; None if no
 * price is set and the provider may charge.
 */
export interface PlannedBotCalls {
  bot: string;
  calls: number;
  cost: number | null;
  hosts: string[];
  price: Price | null;
  tokens_in: number;
  tokens_out: number;
}
/**
 * The rehearsals of a study, newest first.
 */
export interface RehearsalList {
  rehearsals: RehearsalJob[];
}
/**
 * A rehearsal. `forecast` is set when it is done.
 *
 * `trouble`: the error of some simulated workers, if any failed.
 */
export interface RehearsalJob {
  created_at: string;
  done: number;
  ended_at: string | null;
  error: string | null;
  forecast: Forecast | null;
  job: string;
  kind: "report" | "rehearsal" | "export";
  options: RehearsalOptionsAsked;
  run: string;
  status: "running" | "done" | "failed" | "cancelled";
  step: string;
  total: number;
  trouble: string | null;
}
/**
 * The options of a rehearsal. `quality`: each system's quality for simulated workers, 0 to 1.
 */
export interface RehearsalOptionsAsked {
  fee?: number;
  honest?: number | null;
  model?: FittedRaterModel | null;
  pay?: number | null;
  planned?: number | null;
  quality: {
    [k: string]: number;
  };
  seed?: number;
  spread?: number | null;
  workers?: number;
}
/**
 * A model of workers' ratings, in points from 0 to 100, before they are cut off at both ends.
 *
 * `systems`: by name, the mean rating on each criterion, by label. A high number is good, even on a negative
 * criterion; the quality-control bot is `qc`. `worker_sd`, `conversation_sd`, `rating_sd`: standard
 * deviations of a worker's bias, of a conversation's effect, and of noise. `random_share`: share of workers
 * who rate at random.
 */
export interface FittedRaterModel {
  conversation_sd: number;
  format: "candor-rater-model";
  random_share: number;
  rating_sd: number;
  systems: {
    [k: string]: {
      [k: string]: number;
    };
  };
  version: 1;
  worker_sd: number;
}
/**
 * The reports on a run, newest first. Old ones are removed.
 */
export interface ReportList {
  reports: ReportJob[];
}
/**
 * A report. `signature` identifies its analysis. It and `files` are set when the report is done.
 */
export interface ReportJob {
  created_at: string;
  done: number;
  ended_at: string | null;
  error: string | null;
  files: JobFile[];
  job: string;
  kind: "report" | "rehearsal" | "export";
  options: ReportOptions;
  run: string;
  signature: string | null;
  status: "running" | "done" | "failed" | "cancelled";
  step: string;
  total: number;
}
/**
 * Options of a report. Each field is an option of `candor report`.
 *
 * `replicate`: the name of a second run to correlate with, of this study or of another one with some of its
 * systems. `reward`: the pay of an assignment. `workers`: `people` if there are any, or `simulated` workers
 * instead.
 */
export interface ReportOptions {
  alpha?: number;
  include_partial?: boolean;
  replicate?: string | null;
  reward?: number | null;
  workers?: "people" | "simulated";
}
/**
 * All rules of a run, which apply to people. A rule that is left out limits nothing.
 */
export interface RunRules {
  /**
   * The run stops by itself when it pays for no other assignment.
   */
  budget?: Budget | null;
  /**
   * Workers with an assignment in one of these runs are excluded.
   *
   * @maxItems 1000
   */
  excluded_runs?: string[];
  /**
   * Workers with one of these ids in their links are excluded.
   *
   * @maxItems 100000
   */
  excluded_workers?: string[];
  /**
   * Number of workers who may be active at the same time.
   */
  most_at_once?: number | null;
  /**
   * Newcomers are admitted only in these hours.
   */
  opening_hours?: OpeningHours | null;
  /**
   * The run stops by itself when this one condition is met.
   */
  target?: Target | null;
}
/**
 * The most that a run may cost. A completed assignment costs `pay`, and a `fee_share` of it.
 *
 * Slots are only given out if `total` pays for all completed and active assignments, other decided payments,
 * and bonuses.
 */
export interface Budget {
  /**
   * Currency of both, such as GBP.
   */
  currency?: string;
  /**
   * The platform's fee, as a share of the pay.
   */
  fee_share?: number | string;
  /**
   * Pay of a completed assignment.
   */
  pay: number | string;
  /**
   * The most that the run may cost, with fees and bonuses.
   */
  total: number | string;
}
/**
 * The hours in which a run admits newcomers, in `time_zone`.
 */
export interface OpeningHours {
  /**
   * Hours in which the run is open.
   *
   * @minItems 1
   * @maxItems 50
   */
  hours: Hours[];
  /**
   * Time zone of the hours, such as Europe/Berlin.
   */
  time_zone: string;
}
/**
 * From `opens` until just before `closes`, on each of `days`.
 */
export interface Hours {
  /**
   * Time of day of the end; on the following day if it is not after `opens`.
   */
  closes: string;
  /**
   * Days of the week; without them, every day.
   *
   * @minItems 1
   * @maxItems 7
   */
  days?: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[];
  /**
   * Time of day from which newcomers are admitted.
   */
  opens: string;
}
/**
 * The target of a run: one of three conditions.
 */
export interface Target {
  /**
   * This number of assignments is completed.
   */
  assignments?: number | null;
  /**
   * Completed assignments have this number of rated conversations with every system.
   */
  conversations_per_system?: number | null;
  /**
   * The intervals of all scores, in standard deviations of a worker's ratings, are narrower than this. They are a confidence sequence, so looking at them does no harm.
   */
  widest_interval?: number | null;
}
/**
 * The conversations of a run that wait for a researcher, longest wait first.
 */
export interface WizardQueue {
  waiting: WaitingForWizard[];
}
/**
 * A conversation that waits for a reply, its turn number `turn`.
 *
 * `persona`: sentences that describe whom to play. `seconds_left`: until a bot takes over, or the chat ends.
 */
export interface WaitingForWizard {
  conversation: string;
  persona: string[];
  seconds_left: number;
  system: string;
  turn: number;
  turns: WizardTurn[];
}
/**
 * A turn of a conversation. The turns of `bot` were written by researchers.
 */
export interface WizardTurn {
  author: "worker" | "bot";
  text: string;
}
/**
 * The people of a run, in order of arrival.
 */
export interface WorkerIdentities {
  workers: WorkerIdentity[];
}
/**
 * A worker of a run: pseudonym, id on the platform, and the status of the assignment.
 *
 * `visit`: the platform's id of the latest visit (at Prolific, the submission). `completion_code`: the code
 * shown to workers who finished, or who left with a report. `external_id` is None if the worker's data were
 * removed.
 */
export interface WorkerIdentity {
  assignment: string;
  completion_code: string | null;
  external_id: string | null;
  platform: string;
  status: "active" | ("completed" | "returned" | "expired");
  visit: string | null;
  worker: string;
}
/**
 * All studies, by name.
 */
export interface StudyList {
  studies: StudySummary[];
}
/**
 * A study in the list. `mistakes`: their number in its newest version; without any, it can be opened.
 */
export interface StudySummary {
  archived: boolean;
  mistakes: number;
  name: string;
  runs: StudyRun[];
  saved_at: string;
  saved_by: string;
  title: string;
  version: number;
}
/**
 * A run of a study, and the number of the version that it was opened with.
 */
export interface StudyRun {
  run: string;
  status: "open" | "paused" | "closed";
  version: number | null;
}
/**
 * A study with the text of its newest version, and all versions, newest first.
 */
export interface StudyDetail {
  archived: boolean;
  mistakes: number;
  name: string;
  runs: StudyRun[];
  saved_at: string;
  saved_by: string;
  title: string;
  version: number;
  versions: VersionRow[];
  yaml: string;
}
/**
 * A version of a study without its text. `hash` identifies the text that a run was opened with.
 */
export interface VersionRow {
  hash: string;
  saved_at: string;
  saved_by: string;
  version: number;
}
/**
 * All accounts with access to a study, by name.
 */
export interface StudyPeople {
  people: InStudy[];
}
/**
 * An account with access to a study. `role`: its role in this study; `of_all`: its role for all studies.
 *
 * `has_password`: its owner has chosen one. `link_expires_at`: when its open link for choosing one expires;
 * None if it has no link. `may_have_link`: the caller may create or revoke a password link for it.
 */
export interface InStudy {
  has_password: boolean;
  link_expires_at: string | null;
  may_have_link: boolean;
  name: string;
  of_all: ("viewer" | "analyst" | "researcher" | "owner") | null;
  role: ("viewer" | "analyst" | "researcher" | "owner") | null;
}
/**
 * Findings about a study's QC bot before launch; none if it does not use the published one.
 */
export interface QcExamination {
  findings: Finding[];
}
/**
 * A version of a study with its text.
 */
export interface VersionDetail {
  hash: string;
  name: string;
  saved_at: string;
  saved_by: string;
  version: number;
  yaml: string;
}
/**
 * The difference between two versions, with the lines around each change.
 */
export interface VersionChanges {
  lines: ChangedLine[];
  name: string;
  saved_by: string;
  since: number;
  version: number;
}
/**
 * A line of the difference between two versions; `gap` stands for omitted unchanged lines.
 */
export interface ChangedLine {
  kind: "same" | "added" | "removed" | "gap";
  text: string;
}
/**
 * The JSON Schema of a study's settings, and the bots that its systems may use.
 */
export interface StudySettings {
  builtin_bots: string[];
  registered_bots: string[];
  schema_of_study: {
    [k: string]: unknown;
  };
}
/**
 * The templates that a new study can begin with, the most general first.
 */
export interface StudyTemplates {
  templates: TemplateView[];
}
/**
 * A template of studies: its title, a sentence about it, and its languages with their names.
 */
export interface TemplateView {
  about: string;
  languages: {
    [k: string]: string;
  };
  template:
    | "blank"
    | "published"
    | "llm_baseline"
    | "side_by_side"
    | "transcripts"
    | "reading_comprehension"
    | "question_generation"
    | "answer_correctness"
    | "demo";
  title: string;
}
/**
 * All tokens, including revoked ones, newest first.
 */
export interface TokenList {
  tokens: TokenRow[];
}
/**
 * A token without its secret. `study` None: for all studies.
 */
export interface TokenRow {
  created_at: string;
  name: string;
  revoked_at: string | null;
  scope: "researcher" | "host" | "analyst" | "viewer";
  study: string | null;
}
/**
 * The newest assignments of the workers found.
 */
export interface WorkerHits {
  workers: WorkerHit[];
}
/**
 * An assignment of a worker who was found by pseudonym.
 */
export interface WorkerHit {
  assignment: string;
  run: string;
  study: string;
  worker: string;
}
/**
 * The data of each event that is pushed, by path.
 */
export interface Pushed {
  "/api/desk/watch/bots": CheckedBots;
  "/api/desk/watch/people": PeopleUpdate;
  "/api/desk/watch/runs": RunListUpdate;
  "/api/desk/watch/runs/{run}": RunUpdate;
  "/api/desk/watch/runs/{run}/exports": ExportList;
  "/api/desk/watch/runs/{run}/rehearsals": RehearsalList;
  "/api/desk/watch/runs/{run}/reports": ReportList;
  "/api/desk/watch/studies": StudyList;
  "/api/desk/watch/studies/{study}/people": StudyPeople;
}
/**
 * All registered bots with their checks, by name.
 */
export interface CheckedBots {
  bots: CheckedBot[];
}
/**
 * A registered bot, with its running or latest check; None if it was never checked.
 */
export interface CheckedBot {
  check: CheckView | null;
  name: string;
}
/**
 * All accounts, or all tokens, or both: a list that has not changed is left out.
 */
export interface PeopleUpdate {
  people?: PersonRow[];
  tokens?: TokenRow[];
}
/**
 * The runs of the list that have changed. `whole`: these are all runs, newest first.
 */
export interface RunListUpdate {
  runs: RunSummary[];
  whole: boolean;
}
/**
 * The parts of RunDetail that have changed since the previous event.
 *
 * `run` has the whole RunSummary. `whole`: the event contains everything. `workers`: assignments that are
 * new or have changed; `gone`: ids of removed ones.
 */
export interface RunUpdate {
  analysis?: RunAnalysis | null;
  attention?: Attention[] | null;
  bots?: BotReplies[] | null;
  funnel?: FunnelStep[] | null;
  gone: string[];
  incidents?: IncidentRow[] | null;
  run?: RunSummary | null;
  simulated_funnel?: FunnelStep[] | null;
  simulated_systems?: SystemProgress[] | null;
  systems?: SystemProgress[] | null;
  whole: boolean;
  workers: AssignmentRow[];
}
/**
 * What is answered to a POST, by path.
 */
export interface Replies {
  "/api/account/link": Invitation;
  "/api/account/sign-in": Account;
  "/api/desk/bots/{name}/replicas": BotView;
  "/api/desk/people/{person}/link": PersonWithLink;
  "/api/desk/runs/{run}/close": RunSummary;
  "/api/desk/runs/{run}/credits/again": CreditView;
  "/api/desk/runs/{run}/jobs/{job}/cancel": JobView;
  "/api/desk/runs/{run}/pause": RunSummary;
  "/api/desk/runs/{run}/recruitment/bonuses/{batch}/look": BatchLook;
  "/api/desk/runs/{run}/recruitment/bonuses/{batch}/pay": BatchRow;
  "/api/desk/runs/{run}/recruitment/close": RecruitmentView;
  "/api/desk/runs/{run}/recruitment/decisions": RecruitmentView;
  "/api/desk/runs/{run}/recruitment/decisions/{submission}/repeat": RecruitmentView;
  "/api/desk/runs/{run}/recruitment/pause": RecruitmentView;
  "/api/desk/runs/{run}/recruitment/publish": RecruitmentView;
  "/api/desk/runs/{run}/recruitment/refresh": RecruitmentView;
  "/api/desk/runs/{run}/recruitment/resume": RecruitmentView;
  "/api/desk/runs/{run}/resume": RunSummary;
  "/api/desk/studies/{study}/people/{person}/link": GrantedInStudy;
  "/api/desk/studies/{study}/trial": TrialView;
  "/api/desk/study-check": CheckedStudy;
  "/api/desk/study-preview": StudyPreview;
  "/api/desk/workers/forget": ForgottenWorker;
  "/api/desk/workers/holdings": WorkerHoldings;
}
/**
 * The account of a one-time link; None: the first owner, who chooses a name.
 */
export interface Invitation {
  name: string | null;
}
/**
 * An account, and a link that works once, for choosing its password. It cannot be shown again.
 *
 * `mailed`: it was sent by e-mail. `mail_failure`: why it could not be sent.
 */
export interface PersonWithLink {
  created_at: string;
  has_password: boolean;
  link: string;
  link_expires_at: string | null;
  mail_failure?: string | null;
  mailed?: boolean;
  name: string;
  roles: StudyRole[];
}
/**
 * A background job: a report, a rehearsal or an export.
 *
 * `run`: the run it is about; for a rehearsal, its own run. `step`, `done`, `total`: its progress. `error`:
 * why it failed, in words.
 */
export interface JobView {
  created_at: string;
  done: number;
  ended_at: string | null;
  error: string | null;
  job: string;
  kind: "report" | "rehearsal" | "export";
  run: string;
  status: "running" | "done" | "failed" | "cancelled";
  step: string;
  total: number;
}
/**
 * The outcome of a check of sent bonuses. `too_early` and `mixed` leave them open.
 */
export interface BatchLook {
  batch: BatchRow;
  seen: "paid" | "not_paid" | "too_early" | "mixed";
}
/**
 * An account with its role. A new account has a link for choosing a password, which is shown only now.
 *
 * `mailed`: the link was sent by e-mail. `mail_failure`: why it could not be sent.
 */
export interface GrantedInStudy {
  has_password: boolean;
  link: string | null;
  link_expires_at: string | null;
  mail_failure?: string | null;
  mailed?: boolean;
  may_have_link: boolean;
  name: string;
  of_all: ("viewer" | "analyst" | "researcher" | "owner") | null;
  role: ("viewer" | "analyst" | "researcher" | "owner") | null;
}
/**
 * A bot's reply to somebody who tries it, and how it came about.
 *
 * `text`: what a worker would see; None if nothing, and `trouble` says why. `output`: the model's own
 * output, if it differs from the text. `changes`: what was removed or changed, by kind. `calls`: the
 * requests to its endpoint, and the answers; none for a bot in a bot host. `persona` and `prompt`: what the
 * bot was told. `provenance`: the origin of the reply: model, tokens, cost.
 */
export interface TrialView {
  calls: RecordedCall[];
  changes: ("thoughts" | "marks" | "turns" | "limit" | "looks")[];
  output: string | null;
  persona: string[];
  prompt: string;
  provenance: Provenance | null;
  seconds: number;
  text: string | null;
  trouble: Trouble | null;
}
/**
 * A request and its answer: the bodies only, so no headers, and with the key removed.
 *
 * `status`: None if no answer came.
 */
export interface RecordedCall {
  received?: string;
  sent: string;
  status?: number | null;
}
/**
 * The origin of a reply, or of a failed attempt. None means unknown.
 *
 * `model`: the name that the server gives, which may differ from the one requested. `revision`: identifies
 * the version of the model: a fingerprint, a commit, a hash of weights. `prompt_hash`: hash of the
 * instructions, without the persona. `sampling`: JSON of the options of the request. `cost`: by the bot's
 * prices. `finish_reason`: in the server's own word. `replica`: the server or host that answered.
 * `queued_ms`, `computed_ms`: how long the chat waited for the model, and how long the model took.
 */
export interface Provenance {
  computed_ms?: number | null;
  cost?: number | null;
  finish_reason?: string | null;
  model?: string | null;
  prompt_hash?: string | null;
  queued_ms?: number | null;
  replica?: string | null;
  revision?: string | null;
  sampling?: string | null;
  tokens_in?: number | null;
  tokens_out?: number | null;
}
/**
 * Why a bot did not answer: what happened, what to do, and the failure in technical words.
 */
export interface Trouble {
  details: string;
  remedy: string;
  what: string;
}
/**
 * A study's text with its mistakes, by line. Nothing is stored.
 *
 * `notes`: advice for a valid study before it is opened. `content`: the settings as written, valid or not;
 * None if the text is not a mapping of settings, or uses YAML aliases. `rewritten`: the sections that lost
 * comments and layout, because a change could not be made in the text itself. `shipped`: the default texts
 * that workers read if the study has none, by path, such as `criteria.0.statement`. `minutes` and
 * `conversations`: the duration that workers are told, and the number of conversations (or items) of each;
 * None while the study has mistakes, and `minutes` if it tells none.
 */
export interface CheckedStudy {
  content: {
    [k: string]: unknown;
  } | null;
  conversations: number | null;
  minutes: number | null;
  mistakes: MistakeView[];
  notes: string[];
  rewritten: string[];
  shipped: {
    [k: string]: string;
  };
  yaml: string;
}
/**
 * A mistake in a study. `line`: from 1; `path`: of the setting, empty if it concerns the whole study.
 */
export interface MistakeView {
  line: number | null;
  path: (number | string)[];
  reason: string;
}
/**
 * The pages that a worker sees, in order.
 *
 * Where the study has `mistakes`, they show an earlier value or a placeholder; without pages if even that is
 * impossible.
 */
export interface StudyPreview {
  mistakes: MistakeView[];
  steps: PreviewStep[];
}
/**
 * A page that a worker sees: its phase, and the protocol message from which it is drawn.
 */
export interface PreviewStep {
  phase: string;
  snapshot: {
    [k: string]: unknown;
  };
}
/**
 * The new pseudonym of a worker whose data were removed, and their assignments.
 *
 * Without a pseudonym, the worker never came, and was only removed from lists of excluded workers.
 */
export interface ForgottenWorker {
  assignments: string[];
  worker: string | null;
}
/**
 * The amount of data stored about a worker, in rows. `lines`: messages that they wrote.
 *
 * `lists`: the number of runs that exclude them. A worker who is excluded and has never come has no
 * pseudonym (`worker`) and no `platform`.
 */
export interface WorkerHoldings {
  answers: number;
  assignments: number;
  conversations: number;
  lines: number;
  lists: number;
  platform: string | null;
  ratings: number;
  under_way: number;
  worker: string | null;
}

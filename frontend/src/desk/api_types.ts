// Made from openapi.json by `npm run types`. Do not edit.

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
  "/api/desk/runs/{run}/rehearsals": RehearsalList;
  "/api/desk/runs/{run}/reports": ReportList;
  "/api/desk/runs/{run}/rules": RunRules;
  "/api/desk/runs/{run}/wizard": WizardQueue;
  "/api/desk/runs/{run}/worker-ids": WorkerIdentities;
  "/api/desk/studies": StudyList;
  "/api/desk/studies/{study}": StudyDetail;
  "/api/desk/studies/{study}/people": StudyPeople;
  "/api/desk/studies/{study}/qc-examination": QcExamination;
  "/api/desk/studies/{study}/versions/{version}": VersionDetail;
  "/api/desk/studies/{study}/versions/{version}/changes": VersionChanges;
  "/api/desk/study-settings": StudySettings;
  "/api/desk/tokens": TokenList;
}
/**
 * Who calls: a person, a token, or the installation's own token; and what they may do.
 *
 * `permissions`: what they may do in some study at least. `has_password`: there is one that can be changed.
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
 * A role, and the study that it is for; None: for all studies.
 */
export interface StudyRole {
  role: "viewer" | "analyst" | "researcher" | "owner";
  study: string | null;
}
/**
 * How people can sign in beside names and passwords.
 *
 * `provider`: what the OpenID provider is called, None where there is none. `refused`: why the sign-in that
 * was asked about came to nothing.
 */
export interface WaysIn {
  provider: string | null;
  refused: string | null;
}
/**
 * Everything about one assignment. `before`, `after`: what was answered to its questionnaires.
 *
 * `writing`: how its worker writes, where that is recorded.
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
 * What a worker answered to a question of the study's own. Several choices are as many `answers`.
 */
export interface AnswerRow {
  answers: string[];
  label: string;
  question: string;
}
/**
 * A conversation, attempt by attempt, or an item that was read. `incidents`: what went wrong.
 *
 * `side`: of two side by side, which one; the left one has the worker's `choices`. `number`: as the worker
 * counts, two side by side being one.
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
 * Which of two conversations side by side the worker has preferred, after line `turn_index` of both.
 */
export interface ChoiceRow {
  preference: "left" | "right" | "tie";
  turn_index: number;
}
/**
 * Something that went wrong in a conversation, or that should not have been said.
 */
export interface NotedRow {
  kind: string;
  text: string;
}
/**
 * What was read in place of a chat. `twin_of`: the position of the ordinary item that it belongs to.
 *
 * `edited_text`: the text as the worker has improved it, if they were asked to.
 */
export interface ShownItemRow {
  content: ItemContent;
  edited_text: string | null;
  kind: "ordinary" | "bad" | "repeat" | "reference";
  twin_of: number | null;
}
/**
 * What a worker is shown of an item.
 *
 * A conversation has `lines`, and `topics` where they were recorded. A text has `text`. `context` is what
 * the system was given, such as the passage that is to be summed up.
 */
export interface ItemContent {
  context?: string | null;
  lines?: ItemLine[];
  text?: string | null;
  topics?: ItemTopic[];
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
 * What a worker has rated on one criterion, from 0 to 100.
 */
export interface RatingRow {
  criterion: string;
  statement: string;
  value: number;
}
/**
 * What the worker has reported of line `turn_index`, of an item its line, and who has seen it.
 *
 * `leaves`: they left the study with it. `taken_back_at`: they took it back, or reported the line anew.
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
 * The situation or task of a conversation, as the worker was shown it.
 */
export interface ScenarioRow {
  label: string;
  text: string;
}
/**
 * A topic of a conversation; `how` and `bot_opinion` are None for its first.
 */
export interface TopicRow {
  bot_opinion: Opinion | null;
  how: TopicChangeKind | null;
  opinion: Opinion;
  round: number;
  topic: string;
}
/**
 * A line of a conversation. A bot's has the milliseconds it took, and what the worker thought of it.
 *
 * `pasted`: characters of a worker's line that were pasted, where that is recorded.
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
 * That a line may be offensive: by lists of words, and these, or by a classifier, and its categories.
 *
 * `seen_at`, `seen_by`: who has marked what the classifier says as seen.
 */
export interface FlagRow {
  by: "words" | "classifier";
  reason: string;
  seen_at?: string | null;
  seen_by?: string | null;
}
/**
 * What a worker thought of a single reply: point `point` of `points`. Two points are thumbs: down, up.
 */
export interface PointRow {
  point: number;
  points: number;
}
/**
 * How a worker writes, in one measure, beside the workers of the run of whom it is known.
 *
 * `pasted`, `typed`: shares of all characters that they wrote; `pace`: characters a minute that were not
 * pasted; `pause`: the longest, in seconds; `away`: how often the page lost the focus, `away_seconds` for
 * how long. `low`, `median`, `high`: the quartiles of all of them; None of fewer than two.
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
 * What a simulated worker believes of the systems of its assignment.
 *
 * `answers` are the right ones to the test questions, in their order.
 */
export interface SimulatedBeliefs {
  answers: number[];
  conversations: SystemQuality[];
  criteria: CriterionSigns[];
}
/**
 * How good a simulated worker finds the system of a conversation, by its number: 0 is bad, 1 is good.
 *
 * `system` names it where it is chatted with. `item` names what is rated where nothing is chatted: an item,
 * its repeat and its twins have one name.
 */
export interface SystemQuality {
  attempt: number;
  conversation: number;
  item: string | null;
  quality: number;
  system: string | null;
}
/**
 * Whether agreement with a criterion speaks against a system, and whether it counts for the filter.
 */
export interface CriterionSigns {
  label: string;
  negative: boolean;
  qc: boolean;
}
/**
 * Rows of the log, newest first. `more`: there are older ones, `before` the last row's id.
 */
export interface AuditPage {
  entries: AuditRow[];
  more: boolean;
}
/**
 * Something that was done. `kind`: of the actor: person, token, installation, command or server.
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
 * Every registered bot, by name.
 */
export interface BotList {
  bots: BotView[];
}
/**
 * A registered bot. `used_by`: the open runs that have it, of those that the caller may see.
 */
export interface BotView {
  check: LastCheck | null;
  created_at: string;
  enabled: boolean;
  endpoint:
    | OpenAiEndpoint
    | AnthropicEndpoint
    | GeminiEndpoint
    | BedrockEndpoint
    | HttpEndpoint
    | ParlaiWebEndpoint
    | DialInEndpoint;
  name: string;
  overruns: Overruns;
  replicas: ReplicaState[];
  used_by: string[];
}
/**
 * When a bot was last checked, and what came of it.
 */
export interface LastCheck {
  at: string;
  verdict: "pass" | "warn" | "fail";
}
/**
 * Equivalent servers of OpenAI's chat completions.
 *
 * A url ends before `/chat/completions` (mostly in `/v1`). The key goes into `key_header`: into
 * Authorization as a bearer token, into any other header as it is (Azure: `api-key`). `query` is sent with
 * every request. `stream` is for servers that answer in streams only.
 */
export interface OpenAiEndpoint {
  extra_body?: {
    [k: string]: unknown;
  };
  headers?: {
    [k: string]: string;
  };
  key?: string | null;
  key_header?: string;
  kind: "openai";
  max_completion_tokens?: number | null;
  max_tokens?: number | null;
  model: string;
  price?: Price | null;
  prompt?: string;
  query?: {
    [k: string]: string;
  };
  reasoning_effort?: string | null;
  refusals?: "failure" | "reply";
  seed?: number | null;
  spending_cap?: number | null;
  stop?: string[] | null;
  stream?: boolean;
  temperature?: number | null;
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
  output: number;
}
/**
 * Anthropic's Messages API. A url ends before `/messages`. `max_tokens` is required by the API.
 */
export interface AnthropicEndpoint {
  extra_body?: {
    [k: string]: unknown;
  };
  headers?: {
    [k: string]: string;
  };
  key?: string | null;
  kind: "anthropic";
  max_tokens?: number;
  model: string;
  price?: Price | null;
  prompt?: string;
  refusals?: "failure" | "reply";
  spending_cap?: number | null;
  stop?: string[] | null;
  temperature?: number | null;
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
  extra_body?: {
    [k: string]: unknown;
  };
  headers?: {
    [k: string]: string;
  };
  key?: string | null;
  kind: "gemini";
  max_tokens?: number | null;
  model: string;
  price?: Price | null;
  prompt?: string;
  refusals?: "failure" | "reply";
  seed?: number | null;
  spending_cap?: number | null;
  stop?: string[] | null;
  temperature?: number | null;
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
  extra_body?: {
    [k: string]: unknown;
  };
  headers?: {
    [k: string]: string;
  };
  key?: string | null;
  kind: "bedrock";
  max_tokens?: number | null;
  model: string;
  price?: Price | null;
  prompt?: string;
  refusals?: "failure" | "reply";
  spending_cap?: number | null;
  stop?: string[] | null;
  temperature?: number | null;
  top_p?: number | null;
  /**
   * @minItems 1
   * @maxItems 100
   */
  urls: string[];
}
/**
 * Equivalent servers of Candor's own contract (`bots.endpoints.endpoint`).
 */
export interface HttpEndpoint {
  key?: string | null;
  kind: "http";
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
 * A check, under way or over. `report` is there when it is finished, `error` when it failed.
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
  transcripts: Transcript[];
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
export interface Transcript {
  lines: Line[];
  name: string;
  persona: string[];
}
/**
 * A line of a transcript. A bot's line has the `seconds` that it took, or an `error` in its place.
 */
export interface Line {
  author: "worker" | "bot";
  error?: string | null;
  seconds?: number | null;
  text: string;
}
/**
 * Everybody who may use the desk, by name.
 */
export interface PeopleList {
  people: PersonRow[];
}
/**
 * Somebody who may use the desk. `has_password`: they have chosen one.
 */
export interface PersonRow {
  created_at: string;
  has_password: boolean;
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
 * A run in a few numbers: those of people, and beside them those of simulated workers.
 *
 * `cause` and `reason` say why it has its status: what has led to it, and a sentence, if somebody gave one.
 * `places`: how many assignments are wanted by its rules or its study, None where nobody knows.
 * `minutes_to_go`: until they are all handed in, at the pace of the last hour; None where that cannot be
 * told. `waiting`: workers whose bot was asked in vain for the line that they wait for.
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
 * How many assignments of a run stand where.
 */
export interface AssignmentCounts {
  active: number;
  completed: number;
  expired: number;
  returned: number;
}
/**
 * How a run stands with its rules, which are about people.
 *
 * `target`: what it is to gather, in words; empty where it has none of its own. `places_open`: how many more
 * workers may begin now; None: as many as come. `opens_at`: when the run's hours begin again; None: they are
 * not over. `spent`: what the assignments cost that are paid in full, with fees. `retention`: when words and
 * ids of workers are removed, in words; empty where they stay.
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
 * `systems` and `funnel` are of people; what simulated workers have done stands apart. `incidents` has the
 * latest.
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
 * How a run stood when it was last analysed. `widest`: of the intervals, in units of z.
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
 * How many workers pass the filter so far, fail it, or have not rated enough to tell.
 */
export interface PassCounts {
  failed: number;
  passed: number;
  undecided: number;
}
/**
 * The score of a system so far, from `low` to `high`: a confidence sequence, valid at every look.
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
 * The filter's p of a worker by what they have rated; None where that does not tell.
 */
export interface WorkerStanding {
  conversations: number;
  p: number | null;
  worker: string;
}
/**
 * Something that a researcher should see. `urgent`: workers are kept waiting, or data are being lost.
 *
 * `system` or `assignments` name what it is about. `workers`: what those of the assignments have in common:
 * they wait for a bot, their page is gone, they have reported a message, or a line is flagged.
 */
export interface Attention {
  assignments?: string[];
  system?: string | null;
  text: string;
  urgent: boolean;
  workers?: ("waiting" | "away" | "reported" | "flagged") | null;
}
/**
 * How the bot of a system has answered, everybody who chatted with it taken together.
 *
 * `floor_ms` is the typing-time floor: as long as `p95_ms` lies below it, the bot's pace does not tell it
 * apart. `late`: replies to people that came after the delay drawn for them. `failed_tries` by kind are all
 * so far; `failing` are those in a row since its last reply. `offensive`: replies with words of the list;
 * `flagged`: those that the moderation service flags.
 * `replicas`: of a registered bot, by state.
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
 * A step of an assignment: how many came so far, are there now, and ended there without handing in.
 *
 * `position` counts conversations from 1; None of the steps before and after them.
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
 * A system's conversations, or items, by how they stand.
 *
 * `unrated`: those that their workers were not asked to rate. `aim`: how many it is to have in the balance
 * aimed at, once every place is filled, or by now where there is no end to them; None of items.
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
 * `step` is where the worker is, or was at the end; `position` and `system` are of the conversation there,
 * `inputs_here` its lines; two side by side count as one, and the left one is named. `away_since`: their
 * page is gone since then, None while it is open. `excluded`: why analyses leave it out, None where they do
 * not. `failed_tries`: how often the bot was asked in vain for the line that they wait for. `active_at`:
 * last heard of. `p`: of the worker filter when the run was last analysed; no verdict while ratings come in.
 * `left_with_report`: they have reported a message and left with it.
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
 * How a run stood when it was last looked at, as `candor watch` prints it; None: nothing was rated.
 */
export interface LatestAnalysis {
  analysis: {
    [k: string]: unknown;
  } | null;
}
/**
 * A page of conversations, newest first. `after`: give it to get the next page; None: there is none.
 */
export interface ConversationHits {
  after: string | null;
  conversations: ConversationHit[];
}
/**
 * A conversation that a search has found. `line` is the first of its lines that has the words, if any.
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
 * The credits of a run. `asked_by_server`: its study has the server ask for them.
 */
export interface CreditView {
  asked_by_server: boolean;
  credits: CreditRow[];
}
/**
 * What came of asking for the credit of a worker who has handed in; `due`: nothing yet.
 *
 * `granted`: SONA says that they have it. `refused`: it said anything else, and waits for a person.
 * `unreachable`: it said nothing, and is asked again.
 */
export interface CreditRow {
  reason: string;
  status: "due" | "granted" | "refused" | "unreachable";
  tried_at: string | null;
  worker: string;
}
/**
 * What is to be known before simulated workers take part; None where that costs nothing.
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
 * An export. Its `files`, of which there is one, are there once it is done.
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
 * A file of a report or an export, and the path at which it can be had for some hours.
 */
export interface JobFile {
  bytes: number;
  name: string;
  path: string;
}
/**
 * What an export may be asked for: `format`, as `candor export` has them.
 */
export interface ExportOptions {
  format: "hits_data" | "jsonl" | "parquet" | "csv" | "bundle";
}
/**
 * A job of any kind, and what came of it: the fields of the other kinds are empty.
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
 * What a rehearsal foretells, as `python -m qc.outlook` printed it.
 *
 * `minutes`: of an assignment. `apart`: chance that the `first` and the `second` system are told apart.
 * `needed`: workers for a chance of `power`, None where hardly anybody could pay them. `assumed`: sentences.
 */
export interface Forecast {
  apart: number;
  assumed: string[];
  chances: NumberForecast[];
  cost: number | null;
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
 * What so many workers would show: the widest half-width, the chance for the first two, the cost.
 */
export interface NumberForecast {
  apart: number;
  cost: number | null;
  half_width: number;
  workers: number;
}
/**
 * What the forecast is for: workers of one assignment each; `pay` of one of them, `fee` on top.
 */
export interface PlannedStudy {
  conversations: number;
  fee: number;
  inputs: number;
  pay: number | null;
  workers: number;
}
/**
 * A system's score as the simulated workers gave it, and half the width of its interval as planned.
 */
export interface SystemForecast {
  half_width: number;
  system: string;
  z: number;
}
/**
 * How the intervals of a run's scores have narrowed, from the first ratings on; of many looks some.
 *
 * `target`: the run ends as soon as no interval is as wide; None where it has another end.
 */
export interface Narrowing {
  points: ScoresThen[];
  target: number | null;
}
/**
 * The scores of a run when it had so many `ratings`.
 */
export interface ScoresThen {
  ratings: number;
  scores: ScorePoint[];
}
/**
 * The score of a system at some time, from `low` to `high`; None where there was none yet.
 */
export interface ScorePoint {
  high: number | null;
  low: number | null;
  system: string;
  z: number | null;
}
/**
 * Recruiting for a run. `possible`: its study says that its workers come from a platform that we know.
 *
 * `connected`: the server has access to it. `minutes`: how long the study file says that it takes.
 * `lost_events`: how many of the platform's events did not reach this server, of whatever run; `lost_at`:
 * when it found the last of them.
 */
export interface RecruitmentView {
  connected: boolean;
  lost_at: string | null;
  lost_events: number;
  minutes: number | null;
  possible: boolean;
  recruitment: RecruitmentDetail | null;
}
/**
 * A run's study on a platform. Amounts are cents of `currency`; None: the platform has not said which.
 *
 * `fault`: why it could not be read when it was last tried. While its `status` is DRAFTING, the platform has
 * been asked for it, and has not answered: `study` is empty.
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
  reward: number;
  status: string;
  study: string;
  submissions: SubmissionRow[];
}
/**
 * Bonuses that are paid together; `total` has the platform's fees and tax in it.
 *
 * `state`: `prepared`, nothing is paid; `unknown`, the call that pays has no answer yet; `sent`, the
 * platform has accepted it; `paid`, all of it was seen paid there.
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
 * Something on which the platform and we do not agree, and what to do about it.
 *
 * `decision`: the number of what was decided of the submission.
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
 * A submission: what the platform says of it, and what we know.
 *
 * `ending`: that of the code with which its participant came back; None: none, or none of the study's.
 * `here`: the status of the assignment; None: they were never seen here. `paid_share`: per cent of the
 * reward that it is known to have paid. `bonus_sent`, `bonus_paid`: cents of bonuses that were sent and not
 * seen paid yet, and of those that were.
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
 * What somebody has decided of a submission's pay. `number`: by which a later decision names it.
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
 * What should become of a submission's pay, and why; `nothing`: it could be rejected.
 */
export interface ProposedPay {
  pay: "all" | "part" | "nothing";
  share: number | null;
  why: string;
}
/**
 * The rehearsals of a study, newest first.
 */
export interface RehearsalList {
  rehearsals: RehearsalJob[];
}
/**
 * A rehearsal. `forecast` is there once it is done.
 *
 * `trouble`: what went wrong with some of the simulated workers.
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
 * How a rehearsal was asked for. `quality`: how good each system was to the simulated workers, 0 to 1.
 */
export interface RehearsalOptionsAsked {
  fee?: number;
  honest?: number | null;
  model?: RaterModel | null;
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
export interface RaterModel {
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
 * A report. `signature` says what it was made of; it and `files` are there once it is done.
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
 * What a report may be asked for. Each field is an option of `candor report`.
 *
 * `replicate`: the name of a second run to be correlated with, of this study or of another one with some of
 * its systems. `reward`: paid for an assignment. `workers`: `people`, as long as there are any, or
 * `simulated` ones in their place.
 */
export interface ReportOptions {
  alpha?: number;
  include_partial?: boolean;
  replicate?: string | null;
  reward?: number | null;
  workers?: "people" | "simulated";
}
/**
 * All rules of a run, which are about people. Those that are left out limit nothing.
 *
 * `most_at_once`: how many workers may be under way at the same time. `excluded_runs`: whoever had an
 * assignment in one of these runs may not come; nor may `excluded_workers`, by the ids of their links.
 */
export interface RunRules {
  budget?: Budget | null;
  /**
   * @maxItems 1000
   */
  excluded_runs?: string[];
  /**
   * @maxItems 100000
   */
  excluded_workers?: string[];
  most_at_once?: number | null;
  opening_hours?: OpeningHours | null;
  target?: Target | null;
}
/**
 * What a run may cost. An assignment that is completed costs `pay` and `fee_share` of it besides.
 *
 * Places are given out only as far as `total` pays for all that are completed and under way, beside what
 * was decided to pay others and the bonuses.
 */
export interface Budget {
  currency?: string;
  fee_share?: number | string;
  pay: number | string;
  total: number | string;
}
/**
 * All the hours in which a run takes newcomers, on the clocks of `time_zone`.
 */
export interface OpeningHours {
  /**
   * @minItems 1
   * @maxItems 50
   */
  hours: Hours[];
  time_zone: string;
}
/**
 * From `opens` until just before `closes`, on each of `days`.
 *
 * Where `closes` is not after `opens` it is on the following day: 00:00 to 00:00 is the whole day.
 */
export interface Hours {
  closes: string;
  /**
   * @minItems 1
   * @maxItems 7
   */
  days?: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[];
  opens: string;
}
/**
 * When a run has enough: one of the three.
 *
 * `assignments`: as many are completed. `conversations_per_system`: completed assignments have as many rated
 * conversations with every system. `widest_interval`: no interval of a score, in standard deviations of a
 * worker's ratings, is as wide any more; the intervals are a confidence sequence, so that looking at them
 * while data come in does no harm.
 */
export interface Target {
  assignments?: number | null;
  conversations_per_system?: number | null;
  widest_interval?: number | null;
}
/**
 * The conversations of a run that wait for a researcher, who waits longest first.
 */
export interface WizardQueue {
  waiting: WaitingForWizard[];
}
/**
 * A conversation that waits for line `turn`. `persona`: whom to answer as, a sentence each.
 *
 * `seconds_left`: until a bot takes over, or the chat ends.
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
 * A line of a conversation; those by `bot` are the researchers' own.
 */
export interface WizardTurn {
  author: "worker" | "bot";
  text: string;
}
/**
 * The people of a run, in the order in which they came.
 */
export interface WorkerIdentities {
  workers: WorkerIdentity[];
}
/**
 * A worker of a run: pseudonym, id on the platform, and what became of their assignment.
 *
 * `visit`: what the platform calls their latest coming (Prolific: the submission). `completion_code`: what
 * they were shown when they had finished, or left with the report of a message. Of somebody who was
 * forgotten there is no `external_id`.
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
 * Every study, by name.
 */
export interface StudyList {
  studies: StudySummary[];
}
/**
 * A study in the list. `mistakes`: how many its newest version has; with none it can be opened.
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
 * A version of a study without its text; what is opened is known by its hash.
 */
export interface VersionRow {
  hash: string;
  saved_at: string;
  saved_by: string;
  version: number;
}
/**
 * Everybody who may use a study, by name.
 */
export interface StudyPeople {
  people: InStudy[];
}
/**
 * Somebody who may use a study. `role`: theirs in this study; `of_all`: the one for all studies.
 *
 * `has_password`: they have chosen one. `may_have_link`: the caller may make them a link to a new password.
 */
export interface InStudy {
  has_password: boolean;
  may_have_link: boolean;
  name: string;
  of_all: ("viewer" | "analyst" | "researcher" | "owner") | null;
  role: ("viewer" | "analyst" | "researcher" | "owner") | null;
}
/**
 * What is to be said of a study's qc bot before launch; nothing where it has no published one.
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
 * What was changed from one version to a later one, with the lines around it.
 */
export interface VersionChanges {
  lines: ChangedLine[];
  name: string;
  saved_by: string;
  since: number;
  version: number;
}
/**
 * A line of what was changed between two versions; `gap` stands for lines that are the same.
 */
export interface ChangedLine {
  kind: "same" | "added" | "removed" | "gap";
  text: string;
}
/**
 * What a study can say: the JSON Schema of its settings, and the bots that its systems may name.
 */
export interface StudySettings {
  builtin_bots: string[];
  registered_bots: string[];
  schema_of_study: {
    [k: string]: unknown;
  };
}
/**
 * Every token that there ever was, newest first.
 */
export interface TokenList {
  tokens: TokenRow[];
}
/**
 * A token, without what opens anything. `study` None: for all studies.
 */
export interface TokenRow {
  created_at: string;
  name: string;
  revoked_at: string | null;
  scope: "researcher" | "host" | "analyst" | "viewer";
  study: string | null;
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
 * Every registered bot with its check, by name.
 */
export interface CheckedBots {
  bots: CheckedBot[];
}
/**
 * A registered bot, and its check: the one under way, or the latest; None: it never was checked.
 */
export interface CheckedBot {
  check: CheckView | null;
  name: string;
}
/**
 * Who may use the desk, and all tokens; the one of them that has not changed is left out.
 */
export interface PeopleUpdate {
  people?: PersonRow[];
  tokens?: TokenRow[];
}
/**
 * What has changed in the list of runs: those that differ. `whole`: these are all, newest first.
 */
export interface RunListUpdate {
  runs: RunSummary[];
  whole: boolean;
}
/**
 * What has changed of a run since the event before: the parts of RunDetail that differ, and no other.
 *
 * `run` has all of its RunSummary. `whole`: this is all that there is. `workers` has the assignments that
 * differ, or are new; `gone` the ids of those that are there no more.
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
  "/api/desk/study-check": CheckedStudy;
  "/api/desk/study-preview": StudyPreview;
  "/api/desk/workers/forget": ForgottenWorker;
  "/api/desk/workers/holdings": WorkerHoldings;
}
/**
 * Whom a one-time link is for; None: for the first owner, who chooses a name.
 */
export interface Invitation {
  name: string | null;
}
/**
 * Somebody, and the link that lets them choose a password, once. It cannot be shown again.
 */
export interface PersonWithLink {
  created_at: string;
  has_password: boolean;
  link: string;
  name: string;
  roles: StudyRole[];
}
/**
 * Something that is done in the background: a report, a rehearsal, an export.
 *
 * `run`: the run that it is about; of a rehearsal, the run of its own. `step`, `done`, `total`: how far it
 * is. `error`: why it failed, for people.
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
 * What was seen of bonuses that were sent: `too_early` and `mixed` leave them open.
 */
export interface BatchLook {
  batch: BatchRow;
  seen: "paid" | "not_paid" | "too_early" | "mixed";
}
/**
 * Somebody with their role; of somebody new the link by which they choose a password, shown this once.
 */
export interface GrantedInStudy {
  has_password: boolean;
  link: string | null;
  may_have_link: boolean;
  name: string;
  of_all: ("viewer" | "analyst" | "researcher" | "owner") | null;
  role: ("viewer" | "analyst" | "researcher" | "owner") | null;
}
/**
 * A study's text with its mistakes, by line. Nothing is stored.
 *
 * `notes`: what should be known of a study without mistakes before it is opened. `content`: its settings as
 * they are written, whether they are right or not; None where the text is no mapping of settings, or one
 * whose parts refer to each other. `rewritten`: the sections whose comments and layout are lost, because a
 * change could not be made in the text itself. `shipped`: texts that workers read if the study has none of
 * its own, by their paths, such as `criteria.0.statement`.
 */
export interface CheckedStudy {
  content: {
    [k: string]: unknown;
  } | null;
  mistakes: MistakeView[];
  notes: string[];
  rewritten: string[];
  shipped: {
    [k: string]: string;
  };
  yaml: string;
}
/**
 * What is wrong with a study. `line`: from 1; `path`: of the setting, empty where it is of the whole.
 */
export interface MistakeView {
  line: number | null;
  path: (number | string)[];
  reason: string;
}
/**
 * The pages that a worker comes to, in their order. None where the study has mistakes.
 */
export interface StudyPreview {
  mistakes: MistakeView[];
  steps: PreviewStep[];
}
/**
 * A page that a worker comes to: its phase, and the message of the wire from which it is drawn.
 */
export interface PreviewStep {
  phase: string;
  snapshot: {
    [k: string]: unknown;
  };
}
/**
 * Who was forgotten: the pseudonym that their data have now, and their assignments.
 *
 * Without a pseudonym: they never came, and were taken out of lists of who may not.
 */
export interface ForgottenWorker {
  assignments: string[];
  worker: string | null;
}
/**
 * What is stored of a worker: numbers of rows. `lines`: those that they wrote.
 *
 * `lists`: of how many runs they may not come to. Who is on such a list and has never come has no pseudonym
 * (`worker`) and no `platform`.
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

/** What a setting is called on the page, and what a researcher should know of it. */
export interface SettingName {
  label: string;
  hint?: string;
  /** More than a line is written here. */
  long?: boolean;
}

/** A part of the form: its settings, in their order. */
export interface Part {
  id: string;
  title: string;
  hint?: string;
  settings: string[];
}

export const PARTS: Part[] = [
  {
    id: "about",
    title: "What workers read first",
    settings: ["title", "payment", "minutes", "language", "listed", "recruiter", "completion_url"],
  },
  {
    id: "texts",
    title: "Consent, contact and texts",
    settings: ["texts", "questionnaires", "retention", "withdrawal_days", "records_writing", "moderation"],
  },
  {
    id: "task",
    title: "What workers do",
    settings: [
      "task",
      "topic_mode",
      "minimum_inputs",
      "maximum_inputs",
      "maximum_topic_changes",
      "rate_share",
      "transcript_while_rating",
      "quiz",
      "display",
    ],
  },
  {
    id: "criteria",
    title: "What they rate",
    hint: "Each is a statement on a slider from “strongly disagree” to “strongly agree”. The label is never shown.",
    settings: ["criteria", "turn_ratings"],
  },
  {
    id: "systems",
    title: "Systems",
    hint: "What is compared. A worker meets at most one of each family.",
    settings: ["systems_per_assignment", "systems", "bots", "spending_cap"],
  },
  {
    id: "sides",
    title: "Side by side",
    hint: "For studies whose task is “side by side”: workers talk to two systems at once and say which they prefer.",
    settings: ["comparison"],
  },
  {
    id: "scenarios",
    title: "Scenarios",
    hint: "What a conversation is about, shown to the worker. Every system gets each equally often.",
    settings: ["scenarios"],
  },
  {
    id: "people",
    title: "People in a chatbot’s place",
    hint: "For systems whose bot is human:partner, another worker, or human:wizard, a researcher.",
    settings: ["people"],
  },
  { id: "qc", title: "Quality control", settings: ["qc_per_assignment", "qc"] },
  { id: "personas", title: "Personas", settings: ["personas", "corpus"] },
  {
    id: "items",
    title: "Texts to be rated",
    hint: "For studies in which nobody chats.",
    settings: ["items", "composition", "judgments_per_item", "degradation", "post_edit", "tutorial"],
  },
  { id: "timing", title: "Size and timing", settings: ["assignments", "reply_time", "timeouts"] },
  {
    id: "simulate",
    title: "Simulated workers",
    hint: "How good simulated workers find each system, from 0 (bad) to 1 (good). People never see it.",
    settings: ["simulate"],
  },
];

const NAMES: Record<string, SettingName> = {
  title: { label: "Title" },
  payment: { label: "Payment", hint: "What workers get, in words.", long: true },
  minutes: { label: "Minutes", hint: "About how long it takes; workers are told." },
  language: { label: "Language", hint: "en, de, fr, es, zh, ja …" },
  listed: { label: "Announce it on the server’s start page" },
  recruiter: {
    label: "Where workers come from",
    hint: "A platform that names its workers in the address of your study. Without one they come by links.",
  },
  "recruiter.completion_code": {
    label: "Completion code",
    hint: "It proves on the platform that a worker has finished. If the study is there already, give its code.",
  },
  "recruiter.signed": {
    label: "Take only addresses that the platform has signed",
    hint: "The study there has to ask for it; it does where Candor drafts it.",
  },
  "recruiter.completion_url": {
    label: "Where workers are sent at the end",
    hint: "As the platform names it.",
  },
  "recruiter.partial_url": {
    label: "Where workers are sent who do not finish",
    hint: "Connect’s address for partial completes. Empty: they stay on Candor’s page.",
  },
  "recruiter.school": { label: "School’s host", hint: "Like example.sona-systems.com." },
  "recruiter.experiment_id": { label: "Experiment’s id" },
  "recruiter.credit_token": { label: "Credit token" },
  "recruiter.credit": {
    label: "How credit is given",
    hint: "By the student’s browser, which is sent to SONA at the end, or by this server.",
  },
  completion_url: {
    label: "Where workers are sent at the end",
    hint: "An https:// address, for those who come by links. They get a code as well.",
  },
  texts: { label: "Texts" },
  retention: {
    label: "How long it is kept",
    hint: "The server removes it by itself, so many days after a run was closed. Empty: it stays.",
  },
  withdrawal_days: {
    label: "Days in which workers can withdraw",
    hint: "After the end they can download or withdraw what they gave. Empty: not at all.",
  },
  records_writing: {
    label: "Record how workers write",
    hint: "What was pasted, how fast they wrote, how often they left the page: numbers, no keys. Their first page says so.",
  },
  moderation: {
    label: "Offensive-language detection",
    hint: "Lists of words always do. A classifier is a service that every line is sent to, as well; their first page says so.",
  },
  "retention.words": { label: "Days until what workers wrote is removed" },
  "retention.ids": { label: "Days until their ids are removed" },
  questionnaires: { label: "Questionnaires" },
  "questionnaires.before": { label: "Questions before the first conversation" },
  "questionnaires.conversation": { label: "Questions after each conversation" },
  "questionnaires.after": { label: "Questions at the end" },
  "texts.consent": { label: "Consent" },
  "texts.contact": { label: "Contact", hint: "Whom workers write to." },
  "texts.debriefing": {
    label: "Debriefing",
    hint: "Shown at the end. The standard one says that one chatbot was bad on purpose.",
    long: true,
  },
  "texts.instructions": { label: "Instructions", long: true },
  "texts.words": { label: "The page’s own words" },
  "texts.consent.version": { label: "Version", hint: "Yours, such as 1.0: stored with every agreement." },
  "texts.consent.board": { label: "Ethics board", hint: "Its number for your study; empty: none." },
  "texts.consent.text": { label: "Consent text", long: true },
  "texts.consent.boxes": { label: "Boxes to tick" },
  task: {
    label: "Task",
    hint: "Chat with bots, one at a time or two side by side; or read what others have said or written.",
  },
  topic_mode: { label: "Topic", hint: "Chosen by the worker, or a sentence of the persona." },
  minimum_inputs: {
    label: "Messages at least",
    hint: "What a worker has to say before a conversation may end.",
  },
  maximum_inputs: { label: "Messages at most" },
  maximum_topic_changes: { label: "Topic changes at most" },
  rate_share: { label: "Share that is rated", hint: "1: workers rate every conversation." },
  spending_cap: {
    label: "Spending cap of all bots",
    hint: "In the money of the bots’ prices. A run that has spent it stops.",
  },
  transcript_while_rating: { label: "The conversation can be read while it is rated" },
  quiz: {
    label: "Quiz after each conversation",
    hint: "Which of these did your chat partner say? A hidden check of attention; the filter does not use it.",
  },
  "quiz.choices": { label: "Lines to choose from" },
  display: { label: "How replies are shown" },
  "display.markdown": { label: "Markdown", hint: "Emphasis, lists and tables of replies are shown as such." },
  "display.streaming": { label: "Word by word", hint: "At one pace for every bot." },
  turn_ratings: { label: "A rating of each reply", hint: "Workers may rate each reply, and need not." },
  criteria: { label: "Criteria" },
  "criteria.*.label": { label: "Label" },
  "criteria.*.statement": { label: "Statement", long: true },
  "criteria.*.negative": { label: "Reverse-scored" },
  "criteria.*.qc": { label: "Counts for quality control" },
  "criteria.*.scale": { label: "Scale", hint: "How it is answered. Left out: on a slider from 0 to 100." },
  systems_per_assignment: { label: "Systems per worker" },
  systems: { label: "Systems" },
  "systems.*.bot": { label: "Bot", hint: "A builtin bot, one of this study’s own, or a registered one." },
  bots: { label: "This study’s own bots", hint: "Endpoints that only this study uses." },
  "bots.*.urls": { label: "Address" },
  "bots.*.model": { label: "Model", hint: "As the service names it." },
  "bots.*.key": {
    label: "Key’s variable",
    hint: "Not the key itself: the name of the server’s environment variable that holds it. CANDOR_BOT_KEYS has to allow it for this address. Leave it empty if no key is needed.",
  },
  "bots.*.prompt": {
    label: "Prompt",
    hint: "The model’s instructions. {persona} becomes the persona; a paragraph with {persona} is left out where there is none.",
    long: true,
  },
  "bots.*.temperature": {
    label: "Temperature",
    hint: "From 0 to 2; empty: the service’s own. Models that reason refuse it.",
  },
  "bots.*.top_p": { label: "Top p", hint: "Above 0, up to 1; empty: the service’s own." },
  "bots.*.max_tokens": {
    label: "Tokens of a reply at most",
    hint: "max_tokens. A reply that is cut ends at its last sentence.",
  },
  "bots.*.max_completion_tokens": {
    label: "Tokens of thoughts and reply at most",
    hint: "max_completion_tokens, which models that reason take instead of max_tokens.",
  },
  "bots.*.stop": { label: "Stop texts", hint: "The model stops before it writes one of these." },
  "bots.*.seed": { label: "Seed", hint: "A whole number, for services that take one." },
  "bots.*.reasoning_effort": {
    label: "Reasoning effort",
    hint: "minimal, low, medium, high … : what the model takes. Empty: its own.",
  },
  "bots.*.headers": {
    label: "Headers",
    hint: "Sent with every request; a key stands in none of them.",
  },
  "bots.*.query": { label: "Query", hint: "Behind the ? of every request, as Azure’s api-version." },
  "bots.*.key_header": {
    label: "Header of the key",
    hint: "For services that do not take it as a bearer’s; Azure: api-key.",
  },
  "bots.*.extra_body": {
    label: "More of the request",
    hint: "As JSON: stands in every request as it is, for what has no field here.",
  },
  "bots.*.stream": { label: "Answers in streams only", hint: "For servers that have no other answer." },
  "bots.*.refusals": {
    label: "When the model refuses",
    hint: "Failure: retry and report it. Reply: show the refusal to the worker.",
  },
  "bots.*.price": { label: "Price of a million tokens", hint: "In whatever money; caps count by it." },
  "bots.*.price.input": { label: "Of what is sent" },
  "bots.*.price.output": { label: "Of what is written", hint: "Thoughts included." },
  "bots.*.spending_cap": {
    label: "Spending cap",
    hint: "In the money of the price. A bot that has cost that much answers nobody.",
  },
  comparison: { label: "Comparison" },
  "comparison.pairs": { label: "Pairs per worker" },
  "comparison.choose": { label: "When they choose" },
  "comparison.history": { label: "What systems are told they said" },
  "comparison.ties": { label: "“About the same” is an answer" },
  "comparison.question": { label: "What is asked" },
  scenarios: { label: "Scenarios" },
  "scenarios.*.text": { label: "What the worker reads", long: true },
  "scenarios.*.tell_bot": { label: "The bot is told it, too" },
  "scenarios.*.prompt": { label: "What else the bot is told", long: true },
  people: { label: "Where nobody answers in time" },
  "people.take_over": { label: "Bot that takes over" },
  "people.wait": { label: "Seconds until somebody has come" },
  "people.reply": { label: "Seconds for a reply" },
  "people.when_left": { label: "When the partner falls silent" },
  "people.consent_says_so": { label: "The consent says that partners may be people" },
  qc_per_assignment: { label: "Quality-control conversations per worker", hint: "Never first, never last." },
  qc: { label: "Quality-control bot" },
  corpus: { label: "Corpus", hint: "What builtin bots learn from and personas come from." },
  personas: { label: "Personas" },
  items: { label: "Where they come from" },
  judgments_per_item: { label: "Judgments per item" },
  assignments: { label: "Places", hint: "How many workers; empty: no limit." },
  reply_time: { label: "Reply delay (s)", hint: "The same distribution for all bots." },
  timeouts: { label: "Time-outs", hint: "Seconds." },
  "timeouts.bot_try": { label: "For one try of a bot" },
  "timeouts.bot_total": { label: "For a bot in all" },
  "timeouts.idle": { label: "Silence until a place is free" },
  "timeouts.assignment": { label: "For the whole assignment" },
  simulate: { label: "Qualities" },
};

/** The settings of an answer, whether to a criterion or to a question. */
const ANSWER: Record<string, SettingName> = {
  kind: { label: "Kind of answer" },
  points: { label: "Points", hint: "From 2 to 11." },
  ends: { label: "Words at the two ends", hint: "Two lines: the low end, then the high end." },
  choices: { label: "Answers to choose from" },
  least: { label: "Smallest number" },
  most: { label: "Largest number" },
  required: { label: "An answer is required" },
};

/** Whether a path leads to how a criterion or a question is answered. */
function isAnswer(path: (string | number)[]): boolean {
  return path[0] === "questionnaires" || (path[0] === "criteria" && path[2] === "scale");
}

/** What the setting at a path is called. One that is new here is called by its own name. */
export function nameOf(path: (string | number)[]): SettingName {
  const general = path.map((key, index) =>
    typeof key === "number" || (index === 1 && path[0] === "bots") ? "*" : key,
  );
  const known = NAMES[general.join(".")] ?? (isAnswer(path) ? ANSWER[String(path.at(-1))] : undefined);
  const own = String(path.at(-1) ?? "").replaceAll("_", " ");
  return known ?? { label: own.charAt(0).toUpperCase() + own.slice(1), long: LONG.has(String(path.at(-1))) };
}

const LONG = new Set([
  "statement",
  "prompt",
  "text",
  "why",
  "question",
  "scenario",
  "system_prompt",
  "instructions",
]);

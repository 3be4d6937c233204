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
    hint: "Workers rate each statement on a slider from “strongly disagree” to “strongly agree”. They never see the label.",
    settings: ["criteria", "turn_ratings"],
  },
  {
    id: "systems",
    title: "Systems",
    hint: "The chatbots that are compared. A worker meets at most one of each family.",
    settings: ["systems_per_assignment", "systems", "bots", "spending_cap"],
  },
  {
    id: "sides",
    title: "Side by side",
    hint: "Workers talk to two systems at once and choose the better one.",
    settings: ["comparison"],
  },
  {
    id: "scenarios",
    title: "Scenarios",
    hint: "What a conversation is about. Workers see it, and every system gets each scenario equally often.",
    settings: ["scenarios"],
  },
  {
    id: "people",
    title: "People in a chatbot’s place",
    hint: "For systems whose bot is another worker (human:partner) or a researcher (human:wizard).",
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
    hint: "How simulated workers rate each system, from 0 (bad) to 1 (good). People never see this.",
    settings: ["simulate"],
  },
];

const NAMES: Record<string, SettingName> = {
  title: { label: "Title" },
  payment: { label: "Payment", hint: "What workers are paid, in words.", long: true },
  minutes: { label: "Minutes", hint: "About how long the study takes. Workers see this." },
  language: {
    label: "Language",
    hint: "The language of the worker’s page: en, de, fr, es, zh or ja, or another with texts of your own.",
  },
  listed: { label: "List on the start page" },
  recruiter: {
    label: "Where workers come from",
    hint: "The platform that sends workers to your study. Without one, workers come by links.",
  },
  "recruiter.completion_code": {
    label: "Completion code",
    hint: "Workers enter it on the platform to prove that they finished. If the study exists there, enter its code.",
  },
  "recruiter.signed": {
    label: "Accept only links signed by the platform",
    hint: "The study on the platform must sign its links. Studies that Candor creates do.",
  },
  "recruiter.completion_url": {
    label: "Where workers are sent at the end",
    hint: "The address that the platform shows.",
  },
  "recruiter.partial_url": {
    label: "Where workers who do not finish are sent",
    hint: "Connect’s address for partial completes. If empty, they stay on Candor’s page.",
  },
  "recruiter.school": { label: "School’s address", hint: "For example, example.sona-systems.com." },
  "recruiter.experiment_id": { label: "Experiment ID" },
  "recruiter.credit_token": { label: "Credit token" },
  "recruiter.credit": {
    label: "How credit is given",
    hint: "The student’s browser goes to SONA at the end, or this server tells SONA.",
  },
  completion_url: {
    label: "Where workers are sent at the end",
    hint: "An https:// address, for workers who come by links. They also get a code.",
  },
  texts: { label: "Texts" },
  retention: {
    label: "How long data are kept",
    hint: "The server removes data this many days after a run is closed. If empty, data are kept.",
  },
  withdrawal_days: {
    label: "Days to withdraw",
    hint: "For this many days after the end, workers can download or withdraw their data. If empty, they cannot.",
  },
  records_writing: {
    label: "Record how workers write",
    hint: "Counts of pasted text, writing time and times away from the page. Keys are not recorded. Workers are told.",
  },
  moderation: {
    label: "Offensive-language detection",
    hint: "Word lists are always used. A classifier is a service that also gets every message. Workers are told.",
  },
  "retention.words": { label: "Days until workers’ texts are removed" },
  "retention.ids": { label: "Days until workers’ IDs are removed" },
  questionnaires: { label: "Questionnaires" },
  "questionnaires.before": { label: "Questions before the first conversation" },
  "questionnaires.conversation": { label: "Questions after each conversation" },
  "questionnaires.after": { label: "Questions at the end" },
  "texts.consent": { label: "Consent" },
  "texts.contact": { label: "Contact", hint: "Where workers can write to." },
  "texts.debriefing": {
    label: "Debriefing",
    hint: "Shown at the end. The standard text says that one chatbot was bad on purpose.",
    long: true,
  },
  "texts.instructions": { label: "Instructions", long: true },
  "texts.words": { label: "Texts of the page" },
  "texts.consent.version": {
    label: "Version",
    hint: "Your version number, such as 1.0. It is stored with every agreement.",
  },
  "texts.consent.board": {
    label: "Ethics board",
    hint: "The number of its approval. Leave empty if there is none.",
  },
  "texts.consent.text": { label: "Consent text", long: true },
  "texts.consent.boxes": { label: "Boxes to tick" },
  task: {
    label: "Task",
    hint: "Workers chat with one bot at a time, compare two bots side by side, or rate finished texts.",
  },
  topic_mode: { label: "Topic", hint: "Workers choose it, or it is a sentence of the bot’s persona." },
  minimum_inputs: {
    label: "Minimum messages",
    hint: "How many messages a worker must write before a conversation can end.",
  },
  maximum_inputs: { label: "Maximum messages" },
  maximum_topic_changes: { label: "Maximum topic changes" },
  rate_share: { label: "Share of rated conversations", hint: "With 1, workers rate every conversation." },
  spending_cap: {
    label: "Spending cap of all bots",
    hint: "In the currency of the bots’ prices. A run stops when it is reached.",
  },
  transcript_while_rating: { label: "Show the conversation while it is rated" },
  quiz: {
    label: "Quiz after each conversation",
    hint: "Asks which of several lines the chat partner said: a hidden attention check. The filter does not use it.",
  },
  "quiz.choices": { label: "Lines to choose from" },
  display: { label: "How replies are shown" },
  "display.markdown": { label: "Markdown", hint: "Show emphasis, lists and tables in replies." },
  "display.streaming": { label: "Word by word", hint: "At the same pace for every bot." },
  turn_ratings: { label: "Ratings of replies", hint: "Workers may rate each reply. It is optional." },
  criteria: { label: "Criteria" },
  "criteria.*.label": { label: "Label" },
  "criteria.*.statement": { label: "Statement", long: true },
  "criteria.*.negative": { label: "Reverse-scored" },
  "criteria.*.qc": { label: "Counts for quality control" },
  "criteria.*.scale": { label: "Scale", hint: "How workers answer. By default, on a slider from 0 to 100." },
  systems_per_assignment: { label: "Systems per worker" },
  systems: { label: "Systems" },
  "systems.*.bot": {
    label: "Bot",
    hint: "A builtin bot, one of this study’s own bots, or a registered bot.",
  },
  bots: { label: "This study’s own bots", hint: "Endpoints that only this study uses." },
  "bots.*.urls": {
    label: "Addresses",
    hint: "Multiple URLs are load-balanced.",
  },
  "bots.*.model": { label: "Model", hint: "The name that the service uses." },
  "bots.*.key": {
    label: "Key",
    hint: "The name of the server’s environment variable that holds the key, not the key itself. CANDOR_BOT_KEYS must allow it for this address. Leave empty if no key is needed.",
  },
  "bots.*.prompt": {
    label: "Prompt",
    hint: "The model’s instructions. {persona} is replaced by the persona. Without a persona, that paragraph is left out.",
    long: true,
  },
  "bots.*.temperature": {
    label: "Temperature",
    hint: "From 0 to 2. If empty, the service’s default. Reasoning models do not accept it.",
  },
  "bots.*.top_p": { label: "Top p", hint: "Above 0, up to 1. If empty, the service’s default." },
  "bots.*.max_tokens": {
    label: "Maximum tokens of a reply",
    hint: "A longer reply is cut after its last full sentence.",
  },
  "bots.*.max_completion_tokens": {
    label: "Maximum tokens of reasoning and reply",
    hint: "For reasoning models, which use this limit instead.",
  },
  "bots.*.stop": { label: "Stop texts", hint: "The model stops before it writes one of these." },
  "bots.*.seed": { label: "Seed", hint: "A whole number, for services that accept one." },
  "bots.*.reasoning_effort": {
    label: "Reasoning effort",
    hint: "Such as minimal, low, medium or high, as the model accepts. If empty, the model’s default.",
  },
  "bots.*.headers": {
    label: "Headers",
    hint: "Sent with every request. Do not put a key here.",
  },
  "bots.*.query": {
    label: "Query",
    hint: "Added to the address of every request, such as Azure’s api-version.",
  },
  "bots.*.key_header": {
    label: "Key header",
    hint: "For services that do not use a bearer token. For Azure, api-key.",
  },
  "bots.*.extra_body": {
    label: "Additional request settings",
    hint: "JSON that is added to every request, for settings without a field here.",
  },
  "bots.*.stream": { label: "Streaming only", hint: "For servers that only stream their replies." },
  "bots.*.refusals": {
    label: "When the model refuses",
    hint: "Failure: retry and report it. Reply: show the refusal to the worker.",
  },
  "bots.*.price": { label: "Price of a million tokens", hint: "In any currency. Spending caps use it." },
  "bots.*.price.input": { label: "Input price" },
  "bots.*.price.output": { label: "Output price", hint: "Includes reasoning." },
  "bots.*.spending_cap": {
    label: "Spending cap",
    hint: "In the currency of the price. A bot that reaches it stops answering.",
  },
  comparison: { label: "Comparison" },
  "comparison.pairs": { label: "Pairs per worker" },
  "comparison.choose": { label: "When they choose" },
  "comparison.history": { label: "Which replies the systems remember" },
  "comparison.ties": { label: "Allow “About the same”" },
  "comparison.question": { label: "Question" },
  scenarios: { label: "Scenarios" },
  "scenarios.*.text": { label: "What the worker reads", long: true },
  "scenarios.*.tell_bot": { label: "The bot reads it too" },
  "scenarios.*.prompt": { label: "Additional instructions for the bot", long: true },
  people: { label: "Where nobody answers in time" },
  "people.take_over": { label: "Bot that takes over" },
  "people.wait": { label: "Seconds to wait for a partner" },
  "people.reply": { label: "Seconds to wait for a reply" },
  "people.when_left": { label: "When the partner stops replying" },
  "people.consent_says_so": { label: "The consent says that partners may be people" },
  qc_per_assignment: {
    label: "Quality-control conversations per worker",
    hint: "They are never first or last.",
  },
  qc: { label: "Quality-control bot" },
  corpus: { label: "Corpus", hint: "The source of builtin bots and of personas." },
  personas: { label: "Personas" },
  items: { label: "Where they come from" },
  judgments_per_item: { label: "Judgments per item" },
  assignments: { label: "Slots", hint: "How many workers can take part. If empty, there is no limit." },
  reply_time: { label: "Reply delay (s)", hint: "The same distribution for all bots." },
  timeouts: { label: "Time-outs", hint: "In seconds." },
  "timeouts.bot_try": { label: "One attempt of a bot" },
  "timeouts.bot_total": { label: "All attempts of a bot" },
  "timeouts.idle": { label: "Inactivity until a slot is free" },
  "timeouts.assignment": { label: "The whole assignment" },
  simulate: { label: "Qualities" },
};

/** The settings of an answer, whether to a criterion or to a question. */
const ANSWER: Record<string, SettingName> = {
  kind: { label: "Kind of answer" },
  points: { label: "Points", hint: "From 2 to 11." },
  ends: { label: "Labels of the ends", hint: "Two lines: first the low end, then the high end." },
  choices: { label: "Answers to choose from" },
  least: { label: "Smallest number" },
  most: { label: "Largest number" },
  required: { label: "Required" },
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

import type { Path } from "./settings";

/** What a setting is called on the page, and what a researcher should know of it. */
export interface SettingName {
  label: string;
  hint?: string;
  /** More than a line is written here. */
  long?: boolean;
  /** Headings, lists and links can be written here. */
  marked?: boolean;
  /** Few need it: it stands below "Advanced". */
  advanced?: boolean;
  /** It stands before the others of its mapping. */
  first?: boolean;
  /** A mapping whose settings stand here at once, below its name or without one. */
  flat?: "headed" | "bare";
  /** What it is where its mapping is begun. */
  start?: string;
  /** What is used where nothing is chosen. */
  none?: string;
  /** The label beside it is made from this text: what a thing of the list is called. */
  labels?: string;
}

const NAMES: Record<string, SettingName> = {
  title: { label: "Title" },
  payment: { label: "Payment", hint: "What workers get, in words.", long: true },
  minutes: { label: "Minutes", hint: "About how long it takes; workers are told." },
  language: { label: "Language", hint: "Of the worker’s page and of the published criteria." },
  listed: { label: "Announce it on the server’s start page", advanced: true },
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
    advanced: true,
  },
  "recruiter.completion_url": {
    label: "Where workers are sent at the end",
    hint: "As the platform names it.",
  },
  "recruiter.partial_url": {
    label: "Where workers are sent who do not finish",
    hint: "Connect’s address for partial completes. Empty: they stay on Candor’s page.",
    advanced: true,
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
  texts: { label: "Texts", flat: "bare" },
  retention: {
    label: "How long it is kept",
    hint: "The server removes it by itself, so many days after a run was closed. Empty: it stays.",
  },
  withdrawal_days: {
    label: "Days in which workers can withdraw",
    hint: "After the end they can download or withdraw what they gave. Empty: not at all.",
  },
  records_writing: {
    advanced: true,
    label: "Record how workers write",
    hint: "What was pasted, how fast they wrote, how often they left the page: numbers, no keys. Their first page says so.",
  },
  moderation: {
    advanced: true,
    label: "Offensive-language detection",
    hint: "Lists of words always do. A classifier is a service that every line is sent to, as well; their first page says so.",
  },
  "retention.words": { label: "Days until what workers wrote is removed" },
  "retention.ids": { label: "Days until their ids are removed" },
  questionnaires: { label: "Questionnaires", flat: "bare" },
  "questionnaires.before": { label: "Questions before the first conversation" },
  "questionnaires.conversation": { label: "Questions after each conversation" },
  "questionnaires.after": { label: "Questions at the end" },
  "texts.consent": { label: "Consent form", flat: "headed" },
  "texts.contact": { label: "Contact", hint: "Whom workers write to." },
  "texts.debriefing": {
    label: "Debriefing",
    hint: "Shown at the end. The standard one says that one chatbot was bad on purpose.",
    long: true,
  },
  "texts.instructions": { label: "Instructions", long: true },
  "texts.words": {
    label: "The page’s own words",
    hint: "Texts of the worker’s page that you word differently, by their names.",
    advanced: true,
  },
  "texts.lab": {
    label: "Name and logo of your lab",
    hint: "At the top of the worker’s page.",
    advanced: true,
  },
  "texts.lab.logo": { label: "Logo", hint: "An image as a data: URL.", advanced: true },
  "texts.consent.version": {
    label: "Version of the consent form",
    hint: "Stored with every agreement. Change it whenever you change the text.",
    start: "1.0",
    advanced: true,
  },
  "texts.consent.board": {
    label: "Ethics board",
    hint: "Its number for your study; empty: none.",
    advanced: true,
  },
  "texts.consent.text": { label: "Consent text", long: true, marked: true, first: true },
  "texts.consent.boxes": { label: "Boxes to tick" },
  "texts.consent.boxes.*.text": { label: "What a worker agrees to", long: true, first: true, labels: "box" },
  "texts.consent.boxes.*.required": { label: "Workers must tick it" },
  "texts.consent.boxes.*.label": {
    label: "Label",
    hint: "Its name in the data, made from the text.",
    advanced: true,
  },
  task: { label: "Task", hint: "Settings that the chosen task does not use are removed." },
  topic_mode: { label: "Topic" },
  minimum_inputs: {
    label: "Messages at least",
    hint: "What a worker has to say before a conversation may end.",
  },
  maximum_inputs: { label: "Messages at most", advanced: true },
  maximum_topic_changes: { label: "Topic changes at most", advanced: true },
  rate_share: { label: "Share that is rated", hint: "1: workers rate every conversation.", advanced: true },
  spending_cap: {
    advanced: true,
    label: "Spending cap of all bots",
    hint: "In the money of the bots’ prices. A run that has spent it stops.",
  },
  transcript_while_rating: { label: "The conversation can be read while it is rated", advanced: true },
  quiz: {
    advanced: true,
    label: "Quiz after each conversation",
    hint: "Which of these did your chat partner say? A hidden check of attention; the filter does not use it.",
  },
  "quiz.choices": { label: "Lines to choose from" },
  display: { label: "How replies are shown", advanced: true },
  "display.markdown": { label: "Markdown", hint: "Emphasis, lists and tables of replies are shown as such." },
  "display.streaming": { label: "Word by word", hint: "At one pace for every bot." },
  turn_ratings: {
    label: "A rating of each reply",
    hint: "Workers may rate each reply, and need not.",
    advanced: true,
  },
  criteria: { label: "Criteria" },
  "criteria.*.label": { label: "Label", hint: "Its name in the data. Workers never see it." },
  "criteria.*.statement": { label: "Statement", long: true },
  "criteria.*.negative": { label: "Reverse-scored" },
  "criteria.*.qc": { label: "Counts for quality control" },
  "criteria.*.scale": { label: "Scale", flat: "bare" },
  "criteria.*.scale.kind": { label: "Scale", none: "A slider from 0 to 100, as published" },
  systems_per_assignment: { label: "Systems per worker" },
  systems: {
    label: "Systems",
    hint: "What is compared. A worker meets at most one of each family.",
  },
  "systems.*.name": { label: "Name", hint: "Its name in the data. Workers never see it." },
  "systems.*.family": { label: "Family", hint: "Variants of one system share a family." },
  "systems.*.persona": { label: "Persona", advanced: true },
  "systems.*.prompt": { label: "Instructions for the bot", long: true, advanced: true },
  "systems.*.bot": { label: "Bot", hint: "A builtin bot, one of this study’s own, or a registered one." },
  bots: { label: "This study’s own bots", hint: "Bots at an address, which only this study uses." },
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
  comparison: { label: "Comparison", flat: "headed" },
  "comparison.pairs": { label: "Pairs per worker" },
  "comparison.choose": { label: "When they choose" },
  "comparison.history": { label: "What systems are told they said", advanced: true },
  "comparison.ties": { label: "“About the same” is an answer" },
  "comparison.question": { label: "What is asked" },
  scenarios: {
    label: "Scenarios",
    hint: "What a conversation is about, shown to the worker. Every system gets each equally often.",
  },
  "scenarios.*.text": { label: "What the worker reads", long: true },
  "scenarios.*.tell_bot": { label: "The bot is told it, too" },
  "scenarios.*.prompt": { label: "What else the bot is told", long: true },
  people: {
    label: "People in a bot’s place",
    hint: "For systems whose bot is human:partner, another worker, or human:wizard, a researcher.",
    advanced: true,
  },
  "people.take_over": { label: "Bot that takes over" },
  "people.wait": { label: "Seconds until somebody has come" },
  "people.reply": { label: "Seconds for a reply" },
  "people.when_left": { label: "When the partner falls silent" },
  "people.consent_says_so": { label: "The consent says that partners may be people" },
  qc_per_assignment: { label: "Quality-control conversations per worker", hint: "Never first, never last." },
  qc: { label: "Quality-control bot", flat: "headed" },
  corpus: { label: "Corpus", hint: "What builtin bots learn from and personas come from.", advanced: true },
  personas: { label: "Personas", hint: "Sentences that a bot says of itself.", advanced: true },
  "qc.draw": { label: "Where its lines come from" },
  composition: { label: "Items per worker" },
  "composition.ordinary": { label: "Ordinary items" },
  "composition.bad": { label: "Distorted items" },
  "composition.repeat": { label: "Items shown twice" },
  "composition.reference": { label: "References" },
  degradation: {
    label: "How bad items are made",
    hint: "By a rule of Ji’s PhD thesis; the two differ for texts of 21 to 24 words.",
    advanced: true,
  },
  post_edit: {
    label: "Improve texts",
    hint: "Workers who rate a text low must improve it.",
    advanced: true,
  },
  tutorial: { label: "Test questions", hint: "Workers answer them first.", advanced: true },
  "tutorial.questions": { label: "Test questions" },
  "tutorial.mistakes": { label: "Wrong answers at most" },
  items: { label: "What workers rate", hint: "One of the two.", flat: "headed" },
  "items.run": { label: "The conversations of a run", hint: "The run’s name." },
  "items.file": { label: "The lines of a file", hint: "A JSONL file on the server." },
  judgments_per_item: { label: "Judgments per item" },
  assignments: { label: "Workers", hint: "How many can take part; empty: no limit." },
  reply_time: { label: "Reply delay (s)", hint: "The same distribution for all bots.", advanced: true },
  timeouts: { label: "Time-outs", hint: "Seconds.", advanced: true },
  "timeouts.bot_try": { label: "For one try of a bot" },
  "timeouts.bot_total": { label: "For a bot in all" },
  "timeouts.idle": { label: "Silence until a place is free" },
  "timeouts.assignment": { label: "For the whole assignment" },
  simulate: {
    label: "Simulated workers",
    hint: "How good simulated workers find each system, from 0 (bad) to 1 (good). People never see it.",
    advanced: true,
  },
  "simulate.quality": { label: "Quality by system" },
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
function isAnswer(path: Path): boolean {
  return path[0] === "questionnaires" || (path[0] === "criteria" && path[2] === "scale");
}

/** The settings of a question of one's own, besides its answer. */
const QUESTION: Record<string, SettingName> = {
  question: { label: "Question", long: true, first: true, labels: "question" },
  label: { label: "Label", hint: "Its name in the data, made from the question.", advanced: true },
};

/** Mappings whose names are the researcher's own: these stay as they are written. */
const OWN_NAMES = new Set(["bots", "bots.*.headers", "bots.*.query", "simulate.quality", "texts.words"]);

/** What words of settings mean, by the setting and the word. */
const WORDS: Record<string, Record<string, string>> = {
  task: {
    chat: "Chat with one bot at a time",
    side_by_side: "Chat with two bots side by side, and choose one",
    transcripts: "Read and rate conversations or texts",
  },
  topic_mode: { free: "The worker chooses it", icebreaker: "A sentence of the persona" },
  personas: { corpus: "From the corpus" },
  "systems.*.persona": { none: "None", random: "Drawn anew for each conversation" },
  "qc.draw": { corpus: "From the corpus", systems: "From the systems’ replies" },
  "comparison.choose": { end: "At the end of both conversations", turn: "After each pair of replies" },
  "comparison.history": { own: "Their own replies", chosen: "The chosen replies" },
  "people.when_left": { take_over: "A bot takes over", end: "The conversation ends" },
  composition: {
    reading: "100: 70 ordinary, 10 distorted, 10 repeated, 10 references",
    questions: "20: 11 ordinary, 6 distorted, 3 repeated",
  },
  degradation: { chapter5: "By the rule of chapter 5", chapter3: "By the rule of chapter 3" },
  turn_ratings: { thumbs: "Thumbs up or down" },
  "texts.debriefing": { standard: "The standard text" },
  moderation: { words: "Lists of words", classifier: "Lists of words, and a classifier" },
  "bots.*.refusals": { failure: "A failure", reply: "A reply" },
  "recruiter.credit": { browser: "By the student’s browser", server: "By this server" },
};

/** What an endpoint of a study is asked for first; the rest stands below "Advanced". */
const OF_ENDPOINTS = new Set(["urls", "model", "key", "prompt"]);

/** A path without the numbers and the researcher's own names in it. */
function general(path: Path): string {
  return path.reduce<string>((before, key) => {
    const name = typeof key === "number" || OWN_NAMES.has(before) ? "*" : key;
    return before ? `${before}.${name}` : name;
  }, "");
}

/** What a word of the setting at a path is called. */
export function wordAt(path: Path, word: string): string {
  return WORDS[general(path)]?.[word] ?? capitalised(word.replaceAll("_", " "));
}

/** Whether few need the setting at a path. */
export function isRarelyNeeded(path: Path): boolean {
  const isOfEndpoint = path[0] === "bots" && path.length === 3;
  return isOfEndpoint ? !OF_ENDPOINTS.has(String(path[2])) : (nameOf(path).advanced ?? false);
}

/** What the setting at a path is called. One that is new here is called by its own name. */
export function nameOf(path: Path): SettingName {
  const own = String(path.at(-1) ?? "");
  const place = general(path);
  if (OWN_NAMES.has(general(path.slice(0, -1)))) {
    return { label: own, long: LONG.has(own) };
  }
  const question = path[0] === "questionnaires" ? QUESTION[own] : undefined;
  const known = NAMES[place] ?? question ?? (isAnswer(path) ? ANSWER[own] : undefined);
  return known ?? { label: capitalised(own.replaceAll("_", " ")), long: LONG.has(own) };
}

/** A text that begins with a capital letter. */
export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
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

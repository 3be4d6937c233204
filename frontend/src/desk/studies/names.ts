import { capitalised } from "../format";
import type { Path } from "./settings";

/** What a setting is called on the page, and what a researcher should know of it. */
export interface SettingName {
  label: string;
  hint?: string;
  /** More than a line is written here. */
  long?: boolean;
  /** Headings, lists and links can be written here. */
  marked?: boolean;
  /** An image that is chosen as a file. */
  image?: boolean;
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
  payment: { label: "Payment", hint: "What workers are paid, in words.", long: true },
  minutes: { label: "Minutes", hint: "About how long the study takes. Workers see this." },
  language: { label: "Language", hint: "Of the worker’s page and of the published criteria." },
  listed: {
    label: "List on the start page",
    hint: "The server’s own page announces the study while a run of it is open.",
    advanced: true,
  },
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
    advanced: true,
  },
  "recruiter.completion_url": {
    label: "Where workers are sent at the end",
    hint: "The address that the platform shows.",
  },
  "recruiter.partial_url": {
    label: "Where workers who do not finish are sent",
    hint: "Connect’s address for partial completes. If empty, they stay on Candor’s page.",
    advanced: true,
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
  embedded_in: {
    label: "Sites that may show the study in a frame",
    hint: "For example, https://*.qualtrics.com. Other sites cannot embed the worker’s page.",
    advanced: true,
  },
  texts: { label: "Texts", flat: "bare" },
  retention: {
    label: "How long data are kept",
    hint: "The server removes data this many days after a run is closed. If empty, data are kept.",
  },
  withdrawal_days: {
    label: "Days to withdraw",
    hint: "For this many days after the end, workers can download or withdraw their data. If empty, they cannot.",
  },
  records_writing: {
    advanced: true,
    label: "Record how workers write",
    hint: "Counts of pasted text, writing time and times away from the page. Keys are not recorded. Workers are told.",
  },
  moderation: {
    advanced: true,
    label: "Offensive-language detection",
    hint: "Word lists are always used. A classifier is a service that also gets every message. Workers are told.",
  },
  "retention.words": { label: "Days until workers’ texts are removed" },
  "retention.ids": { label: "Days until workers’ IDs are removed" },
  questionnaires: { label: "Questionnaires", flat: "bare" },
  "questionnaires.before": { label: "Questions before the first conversation" },
  "questionnaires.conversation": { label: "Questions after each conversation" },
  "questionnaires.after": { label: "Questions at the end" },
  "texts.consent": { label: "Consent form", flat: "headed" },
  "texts.contact": { label: "Contact", hint: "Where workers can write to." },
  "texts.debriefing": {
    label: "Debriefing",
    hint: "Shown at the end. The standard text says that one chatbot was bad on purpose.",
    long: true,
  },
  "texts.instructions": { label: "Instructions", long: true },
  "texts.words": {
    label: "Texts of the page",
    hint: "Texts of the worker’s page that you word differently, by their names.",
    advanced: true,
  },
  "texts.lab": {
    label: "Name and logo of your lab",
    hint: "At the top of the worker’s page.",
    advanced: true,
  },
  "texts.lab.logo": { label: "Logo", hint: "PNG, JPEG, WebP or SVG, up to 30 kB.", image: true },
  "texts.consent.version": {
    label: "Version of the consent form",
    hint: "Stored with every agreement. Change it whenever you change the text.",
    start: "1.0",
    advanced: true,
  },
  "texts.consent.board": {
    label: "Ethics board",
    hint: "The number of its approval. Leave empty if there is none.",
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
    label: "Minimum messages",
    hint: "How many messages a worker must write before a conversation can end.",
  },
  maximum_inputs: {
    label: "Maximum messages",
    hint: "After this many, the conversation has to be rated.",
    advanced: true,
  },
  maximum_topic_changes: {
    label: "Maximum topic changes",
    hint: "How often a worker can mark another topic in a conversation.",
    advanced: true,
  },
  rate_share: {
    label: "Share of rated conversations",
    hint: "With 1, workers rate every conversation. Below 1, the others are drawn at random and left unrated.",
    advanced: true,
  },
  spending_cap: {
    advanced: true,
    label: "Spending cap of all bots",
    hint: "In the currency of the bots’ prices. A run stops when it is reached.",
  },
  transcript_while_rating: { label: "Show the conversation while it is rated", advanced: true },
  quiz: {
    advanced: true,
    label: "Quiz after each conversation",
    hint: "Asks what the worker remembers of the chat partner. It is hidden, and the filter does not use it.",
  },
  "quiz.about": {
    label: "What it asks",
    hint: "Lines check the worker’s attention. Personas show whether a system’s persona comes across.",
  },
  "quiz.choices": { label: "Number of choices" },
  display: { label: "How replies are shown", advanced: true },
  "display.markdown": { label: "Markdown", hint: "Show emphasis, lists and tables in replies." },
  "display.streaming": { label: "Word by word", hint: "At the same pace for every bot." },
  turn_ratings: {
    label: "Ratings of replies",
    hint: "Workers may rate each reply. It is optional.",
    advanced: true,
  },
  criteria: { label: "Criteria" },
  "criteria.*.label": { label: "Label", hint: "Its name in the data. Workers never see it." },
  "criteria.*.statement": { label: "Statement", long: true },
  "criteria.*.negative": { label: "Reverse-scored", hint: "Agreement speaks against the system." },
  "criteria.*.qc": {
    label: "Counts for quality control",
    hint: "The worker filter uses it.",
  },
  "criteria.*.scale": { label: "Scale", flat: "bare" },
  "criteria.*.scale.kind": { label: "Scale", none: "A slider from 0 to 100, as published" },
  systems_per_assignment: { label: "Systems per worker" },
  systems: {
    label: "Systems",
    hint: "What is compared. A worker meets at most one of each family.",
  },
  "systems.*.name": { label: "Name", hint: "Its name in the data. Workers never see it." },
  "systems.*.family": { label: "Family", hint: "Variants of one system share a family." },
  "systems.*.persona": {
    label: "Persona",
    hint: "Sentences of its own, or one of the study’s personas.",
    advanced: true,
  },
  "systems.*.prompt": {
    label: "Instructions for the bot",
    hint: "Besides the bot’s own prompt. Workers never see them.",
    long: true,
    advanced: true,
  },
  "systems.*.bot": {
    label: "Bot",
    hint: "A builtin bot, one of this study’s own bots, or a registered bot.",
  },
  bots: { label: "This study’s own bots", hint: "Bots at an address, which only this study uses." },
  "bots.*.urls": { label: "Address" },
  "bots.*.model": { label: "Model", hint: "As the service names it." },
  "bots.*.key": {
    label: "API key variable",
    hint: "Not the key itself: the name of the server’s environment variable that holds it. CANDOR_BOT_KEYS has to allow it for this address. Leave it empty if no key is needed.",
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
    hint: "JSON that is added to every request, for settings without a field here. Null removes a field.",
  },
  "bots.*.instructions": {
    label: "Instructions go into",
    hint: "For models without a system message. The check says which one a model takes.",
  },
  "bots.*.alternating": {
    label: "Join messages of one author in a row",
    hint: "For models that refuse two of them. The check says so.",
  },
  "bots.*.parts": {
    label: "Send text as a list of parts",
    hint: "For models that take no plain text. The check says so.",
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
  comparison: { label: "Comparison", flat: "headed" },
  "comparison.pairs": {
    label: "Pairs per worker",
    hint: "Pairs with the quality-control bot are added to these.",
  },
  "comparison.choose": { label: "When they choose" },
  "comparison.history": { label: "Which replies the systems remember", advanced: true },
  "comparison.ties": { label: "Allow “About the same”" },
  "comparison.question": { label: "Question" },
  scenarios: {
    label: "Scenarios",
    hint: "What a conversation is about, shown to the worker. Every system gets each equally often.",
  },
  "scenarios.*.label": { label: "Label", hint: "Its name in the data. Workers never see it." },
  "scenarios.*.topic": {
    label: "Topic",
    hint: "The first topic. If empty, as the study’s topics are chosen.",
  },
  "scenarios.*.text": { label: "What the worker reads", long: true },
  "scenarios.*.tell_bot": { label: "The bot reads it too" },
  "scenarios.*.prompt": { label: "Additional instructions for the bot", long: true },
  people: {
    label: "People in a bot’s place",
    hint: "For systems whose bot is human:partner, another worker, or human:wizard, a researcher.",
    advanced: true,
  },
  "people.take_over": {
    label: "Bot that takes over",
    hint: "It replies if nobody comes, or if the partner leaves or is silent.",
  },
  "people.wait": { label: "Seconds to wait for a partner" },
  "people.reply": { label: "Seconds to wait for a reply" },
  "people.when_left": { label: "When the partner stops replying" },
  "people.consent_says_so": { label: "The consent says that partners may be people" },
  qc_per_assignment: {
    label: "Quality-control conversations per worker",
    hint: "They are never first or last.",
  },
  qc: { label: "Quality-control bot", flat: "headed" },
  corpus: { label: "Corpus", hint: "The source of builtin bots and of personas.", advanced: true },
  personas: { label: "Personas", hint: "Sentences that a bot says of itself.", advanced: true },
  "qc.corpus": {
    label: "Corpus",
    hint: "Its lines are cut up and mixed. Another one is a file in the folder corpora of the server’s data.",
  },
  "qc.draw": { label: "Where its lines come from" },
  composition: { label: "Items per worker" },
  "composition.ordinary": { label: "Ordinary items" },
  "composition.bad": { label: "Distorted items" },
  "composition.repeat": { label: "Items shown twice" },
  "composition.reference": { label: "References" },
  "composition.one_group": {
    label: "All about the same passage",
    hint: "The items of an assignment have the same group, or the same context.",
  },
  "composition.human": {
    label: "System written by people",
    hint: "Each assignment has an item of it, shown twice and distorted; distorted items take words from it.",
  },
  degradation: {
    label: "How bad items are made",
    hint: "By a rule of Ji’s PhD thesis; the two differ for texts of 21 to 24 words.",
    advanced: true,
  },
  correctness: {
    label: "Correctness of answers",
    hint: "Workers judge each answer by paragraphs, and mark the words that show it.",
  },
  "post_edit.criterion": { label: "Criterion", hint: "The label of the criterion that decides." },
  "post_edit.top": { label: "Top of the scale", hint: "Texts rated below this must be improved." },
  post_edit: {
    label: "Improve texts",
    hint: "Workers who rate a text low must improve it.",
    advanced: true,
  },
  tutorial: { label: "Test questions", hint: "Workers answer them first.", advanced: true },
  "tutorial.questions": { label: "Test questions" },
  "tutorial.questions.*.right": { label: "Number of the right answer" },
  "tutorial.questions.*.why": {
    label: "Explanation",
    hint: "Workers read it after they answer.",
    long: true,
  },
  "tutorial.mistakes": { label: "Wrong answers at most", hint: "With more, the assignment ends." },
  items: { label: "What workers rate", hint: "A run or a file.", flat: "headed" },
  "items.run": { label: "The conversations of a run", hint: "The run’s name." },
  "items.file": { label: "The lines of a file", hint: "A JSONL file on the server." },
  "items.probabilities": {
    label: "Probabilities",
    hint: "A CSV file with how likely each item is drawn; empty: all items are rated.",
  },
  judgments_per_item: { label: "Judgments per item", hint: "At least this many workers rate each item." },
  assignments: {
    label: "Workers",
    hint: "How many can take part; empty: no limit, or as many as the judgments of items need.",
  },
  reply_time: { label: "Reply delay (s)", hint: "The same distribution for all bots.", advanced: true },
  "reply_time.median": { label: "Median" },
  "reply_time.spread": { label: "Spread", hint: "Standard deviation of the logarithm of the delay." },
  "reply_time.longest": {
    label: "Longest",
    hint: "Longer delays are cut to this. Keep it well above the median.",
  },
  timeouts: { label: "Time-outs", hint: "In seconds.", advanced: true },
  "timeouts.bot_try": { label: "One attempt of a bot" },
  "timeouts.bot_total": { label: "All attempts of a bot" },
  "timeouts.idle": { label: "Inactivity until a slot is free" },
  "timeouts.assignment": { label: "The whole assignment" },
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
  ends: { label: "Labels of the ends", hint: "Two lines: first the low end, then the high end." },
  labels: {
    label: "Labels of the points",
    hint: "One line for each point, from the lowest, instead of the labels of the ends.",
  },
  choices: { label: "Answers to choose from" },
  least: { label: "Smallest number" },
  most: { label: "Largest number" },
  text: { label: "Text to mark" },
  categories: { label: "Categories of marks", hint: "Each mark has one of them; empty: none." },
  severities: { label: "Severities of marks", hint: "Each mark has one of them; empty: none." },
  required: { label: "Required" },
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
    questions: "20 about one passage: 11 ordinary, 6 distorted, 3 repeated",
  },
  "quiz.about": {
    lines: "Which of these lines the chat partner said",
    personas: "Which of these personas the chat partner had",
  },
  degradation: { chapter5: "By the rule of chapter 5", chapter3: "By the rule of chapter 3" },
  "questionnaires.conversation.*.text": {
    output: "What the system said or wrote",
    context: "The context of an item",
  },
  turn_ratings: { thumbs: "Thumbs up or down" },
  "texts.debriefing": { standard: "The standard text" },
  moderation: { words: "Lists of words", classifier: "Lists of words, and a classifier" },
  "bots.*.instructions": {
    system: "A system message",
    developer: "A developer message",
    first_message: "The first message",
  },
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

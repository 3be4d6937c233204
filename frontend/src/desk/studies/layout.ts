import { general, isOwnName } from "./names";
import type { Path } from "./settings";

/** How the form shows a setting; its name and hint are the server's (names.ts). */
export interface SettingLayout {
  /** What it is called here, if its place says more than its name. */
  label?: string;
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

const LAYOUT: Record<string, SettingLayout> = {
  payment: { long: true },
  listed: { advanced: true },
  "recruiter.signed": { advanced: true },
  "recruiter.partial_url": { advanced: true },
  embedded_in: { advanced: true },
  texts: { flat: "bare" },
  records_writing: { advanced: true },
  moderation: { advanced: true },
  questionnaires: { flat: "bare" },
  "texts.consent": { flat: "headed" },
  "texts.debriefing": { long: true },
  "texts.words": { advanced: true },
  "texts.lab": { advanced: true },
  "texts.lab.logo": { image: true },
  "texts.consent.version": { start: "1.0", advanced: true },
  "texts.consent.board": { advanced: true },
  "texts.consent.text": { long: true, marked: true, first: true },
  "texts.consent.boxes.*.text": { long: true, first: true, labels: "box" },
  "texts.consent.boxes.*.label": { advanced: true },
  maximum_inputs: { advanced: true },
  maximum_topic_changes: { advanced: true },
  rate_share: { advanced: true },
  spending_cap: { advanced: true },
  transcript_while_rating: { advanced: true },
  quiz: { advanced: true },
  display: { advanced: true },
  turn_ratings: { advanced: true },
  "criteria.*.statement": { long: true },
  "criteria.*.scale": { flat: "bare" },
  "criteria.*.scale.kind": { label: "Scale", none: "A slider from 0 to 100, as published" },
  "systems.*.persona": { advanced: true },
  "systems.*.prompt": { long: true, advanced: true },
  "bots.*.prompt": { long: true },
  comparison: { flat: "headed" },
  "comparison.history": { advanced: true },
  "scenarios.*.text": { long: true },
  "scenarios.*.prompt": { long: true },
  people: { advanced: true },
  qc: { flat: "headed" },
  corpus: { advanced: true },
  personas: { advanced: true },
  degradation: { advanced: true },
  post_edit: { advanced: true },
  tutorial: { advanced: true },
  "tutorial.questions.*.text": { long: true },
  "tutorial.questions.*.question": { long: true },
  "tutorial.questions.*.why": { long: true },
  items: { flat: "headed" },
  reply_time: { advanced: true },
  timeouts: { advanced: true },
  simulate: { advanced: true },
};

/** The settings of a question of one's own, besides its answer. */
const QUESTION: Record<string, SettingLayout> = {
  question: { long: true, first: true, labels: "question" },
  label: { advanced: true },
};

/** What an endpoint of a study is asked for first; the rest stands below "Advanced". */
const OF_ENDPOINTS = new Set(["urls", "model", "key", "prompt"]);

/** How the setting at a path is shown. */
export function layoutOf(path: Path): SettingLayout {
  if (isOwnName(path)) {
    return {};
  }
  const question = path[0] === "questionnaires" ? QUESTION[String(path.at(-1))] : undefined;
  return LAYOUT[general(path)] ?? question ?? {};
}

/** Whether few need the setting at a path. */
export function isRarelyNeeded(path: Path): boolean {
  const isOfEndpoint = path[0] === "bots" && path.length === 3;
  return isOfEndpoint ? !OF_ENDPOINTS.has(String(path[2])) : (layoutOf(path).advanced ?? false);
}

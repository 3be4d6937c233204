import type { MistakeView } from "../api_types";
import { counted } from "../words";
import { type Path, type Schema, valueAt } from "./settings";

export type StepName =
  | "basics"
  | "consent"
  | "task"
  | "bots"
  | "ratings"
  | "quality"
  | "recruiting"
  | "review";

/** A step of writing a study: its settings, in their order. */
export interface Step {
  step: StepName;
  title: string;
  about: string;
  settings: string[];
}

export const STEPS: readonly Step[] = [
  {
    step: "basics",
    title: "Basics",
    about: "What the study is called, and the language in which workers take part.",
    settings: ["title", "language", "minutes"],
  },
  {
    step: "consent",
    title: "Consent and texts",
    about: "What workers read and agree to before they begin, and what happens to their data.",
    settings: ["texts", "retention", "withdrawal_days", "records_writing", "moderation"],
  },
  {
    step: "task",
    title: "Task and topic",
    about: "What workers do, and what the conversations are about.",
    settings: [
      "task",
      "topic_mode",
      "minimum_inputs",
      "maximum_inputs",
      "maximum_topic_changes",
      "items",
      "judgments_per_item",
      "scenarios",
    ],
  },
  {
    step: "bots",
    title: "Bots",
    about: "The systems that are compared, and the bots behind them.",
    settings: [
      "systems",
      "systems_per_assignment",
      "bots",
      "people",
      "personas",
      "corpus",
      "spending_cap",
      "display",
      "reply_time",
      "timeouts",
      "simulate",
    ],
  },
  {
    step: "ratings",
    title: "Ratings and questions",
    about: "What workers rate after each conversation, and what else you ask them.",
    settings: [
      "comparison",
      "criteria",
      "questionnaires",
      "turn_ratings",
      "rate_share",
      "transcript_while_rating",
      "post_edit",
      "correctness",
    ],
  },
  {
    step: "quality",
    title: "Quality control",
    about: "How workers are tested whose ratings cannot be relied on.",
    settings: ["qc_per_assignment", "qc", "quiz", "composition", "degradation", "tutorial"],
  },
  {
    step: "recruiting",
    title: "Recruiting and payment",
    about: "What workers get, how many take part, and where they come from.",
    settings: ["payment", "assignments", "recruiter", "completion_url", "embedded_in", "listed"],
  },
  {
    step: "review",
    title: "Review",
    about: "The whole study in short, before you open a run.",
    settings: [],
  },
];

/** The settings of a step that the study's task uses, and those that are given although it does not. */
export function shownIn({ settings }: Step, root: Schema, content: Record<string, unknown>): string[] {
  const unused = unusedBy(String(content.task ?? root.properties?.task?.default), root);
  return settings.filter(
    (name) => root.properties?.[name] && (!unused.includes(name) || content[name] !== undefined),
  );
}

/** The settings that a task does not use. */
export function unusedBy(task: string, root: Schema): string[] {
  return root.properties?.task?.["x-unused"]?.[task] ?? [];
}

/** The mistakes within a step's settings. */
export function within({ settings }: Step, mistakes: MistakeView[]): MistakeView[] {
  return mistakes.filter(({ path }) => settings.includes(String(path[0])));
}

/** Whether a mistake is that nothing was given yet. */
export function isBlank({ path }: MistakeView, content: unknown): boolean {
  const value = valueAt(content, path);
  return (
    value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0)
  );
}

/** The mistakes that are told at their fields: nobody is told of a field that they did not come to yet. */
export function told(
  mistakes: MistakeView[],
  content: unknown,
  left: ReadonlySet<string>,
  asked: boolean,
): MistakeView[] {
  return mistakes.filter(
    (mistake) => asked || !isBlank(mistake, content) || left.has(nameOfPath(mistake.path)),
  );
}

/** A path as the name of its field. */
export function nameOfPath(path: Path): string {
  return path.join(".");
}

/** What is missing and what is wrong, in words: "2 fields to fill in, 1 problem to fix"; empty where nothing is. */
export function problemsInWords(mistakes: MistakeView[], content: unknown): string {
  const blank = mistakes.filter((mistake) => isBlank(mistake, content)).length;
  const wrong = mistakes.length - blank;
  return [
    blank > 0 ? `${counted(blank, "field")} to fill in` : "",
    wrong > 0 ? `${counted(wrong, "problem")} to fix` : "",
  ]
    .filter(Boolean)
    .join(", ");
}

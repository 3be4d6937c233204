import type { AssignmentRow } from "./api_types";
import { capitalised } from "./format";

export type Phase = AssignmentRow["step"];

/** What the steps of an assignment are called on the desk. */
const NAMES: Record<Phase, string> = {
  instructions: "instructions",
  questions_before: "questionnaire before",
  tutorial: "tutorial",
  topic: "choosing a topic",
  chat: "chat",
  choice: "choosing one of two",
  rating: "rating",
  quiz: "quiz",
  questions_after: "questionnaire after",
  feedback: "feedback",
  done: "submitted",
  expired: "expired",
  returned: "returned",
};

export function phaseName(phase: Phase): string {
  return NAMES[phase];
}

/** As the heading of a stage that belongs to no conversation. */
export function stageName(phase: Phase): string {
  const name = phase === "instructions" ? "arrived" : phaseName(phase);
  return capitalised(name);
}

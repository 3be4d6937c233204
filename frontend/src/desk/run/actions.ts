import { apiAddress } from "../api";
import type { RunDetail } from "../api_types";
import type { Action } from "./ActionDialog";

/** The bot for which researchers answer here. */
const WIZARD = "human:wizard";

/** Whether researchers answer in a chatbot's place in this run. */
export function hasWizard({ bots }: RunDetail): boolean {
  return bots.some(({ bot }) => bot === WIZARD);
}

/** What can be done about a run as a whole, by name. */
export function runActions({ run }: RunDetail): Record<"pause" | "resume" | "close" | "message", Action> {
  const at = (path: string) => apiAddress(`/api/desk/runs/{run}/${path}`, { run });
  const words = { field: "reason", label: "Reason (shown here, never to workers)", needed: false };
  return {
    pause: {
      name: "Pause",
      about: "No new workers are admitted until you resume. Those in progress can finish.",
      done: "The run is paused. Workers in progress can finish.",
      method: "POST",
      address: at("pause"),
      words,
    },
    resume: {
      name: "Resume",
      about: "Workers are admitted again.",
      done: "The run is open again.",
      method: "POST",
      address: at("resume"),
      words,
    },
    close: {
      name: "Close the run",
      about: "No new workers are admitted, and those in progress can finish. You can resume the run later.",
      done: "The run is closed. Workers in progress can finish.",
      danger: true,
      method: "POST",
      address: at("close"),
      words,
    },
    message: {
      name: "Message all workers",
      about: "Every worker in progress sees it until they dismiss it.",
      done: "The message is sent.",
      method: "POST",
      address: at("message"),
      words: { field: "text", label: "Message to the workers", needed: true },
    },
  };
}

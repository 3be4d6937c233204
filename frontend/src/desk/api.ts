import { isErrorBody } from "../shared/error_body";

/** How many assignments of a run stand where. */
export interface AssignmentCounts {
  active: number;
  completed: number;
  returned: number;
  expired: number;
}

export interface RunSummary {
  run: string;
  study: string;
  title: string;
  status: string;
  created_at: string | null;
  worker_link: string;
  /** Those of people. */
  assignments: AssignmentCounts;
  conversations_rated: number;
  /** Those of simulated workers. */
  simulated: AssignmentCounts;
  simulated_conversations_rated: number;
}

/** A system's conversations by how they stand, and how it has answered. */
export interface SystemProgress {
  system: string;
  family: string;
  is_qc: boolean;
  planned: number;
  active: number;
  rated: number;
  failed: number;
  skipped: number;
  inputs: number;
  median_latency_ms: number | null;
}

export interface AssignmentRow {
  assignment: string;
  worker: string;
  simulated: boolean;
  status: string;
  conversations_rated: number;
  inputs: number;
  started_at: string | null;
  active_at: string | null;
  ended_at: string | null;
  completion_code: string | null;
}

export interface RunDetail extends RunSummary {
  systems: SystemProgress[];
  workers: AssignmentRow[];
}

export interface TopicMark {
  round: number;
  topic: string;
  how: string | null;
  opinion: string;
  bot_opinion: string | null;
}

export interface TurnRow {
  turn_index: number;
  author: "worker" | "bot";
  text: string;
  created_at: string | null;
  latency_ms: number | null;
}

export interface ConversationRecord {
  position: number;
  attempt: number;
  system: string;
  family: string;
  is_qc: boolean;
  status: string;
  persona: string[];
  topic_marks: TopicMark[];
  turns: TurnRow[];
  ratings: { criterion: string; statement: string; value: number }[];
  incidents: string[];
}

export interface Transcript {
  assignment: string;
  worker: string;
  simulated: boolean;
  status: string;
  feedback: string | null;
  conversations: ConversationRecord[];
}

/** The server wants another token than the one that was shown. */
export class Unauthorised extends Error {}

/** The server said no, or could not be reached; the message is for the researcher. */
export class Failed extends Error {}

/**
 * Ask the researcher's interface.
 *
 * Throws Unauthorised when the token is not accepted, Failed for everything else.
 */
export async function getJson<T>(path: string, token: string, signal: AbortSignal): Promise<T> {
  const answer = await fetch(`/api/desk/${path}`, {
    headers: { Authorization: `Bearer ${token}` },
    signal,
  }).catch((error: unknown) => {
    throw signal.aborted ? error : new Failed("The server can’t be reached.");
  });
  const body: unknown = await answer.json().catch(() => null);
  if (answer.status === 401) {
    throw new Unauthorised();
  }
  if (!answer.ok) {
    throw new Failed(
      isErrorBody(body) ? `${body.error.message}. ${body.error.hint}` : `HTTP ${answer.status}`,
    );
  }
  return body as T;
}

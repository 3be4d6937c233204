import { abortedAfter } from "../../shared/browser";
import { type ErrorBody, isErrorBody } from "../../shared/error_body";
import { atServer } from "../../shared/site";
import { type Problem, problemOf } from "./problem";
import type { TextsCard, WayBackCard } from "./protocol";

/**
 * Who comes to which run. `signature`: of a personal link. `parameters`: of the address beside them; `doubled`: those with two values. `token`: what this browser was given earlier. `earlier`:
 * what it was given last in this run, under whatever name.
 */
export interface JoinRequest {
  run: string;
  worker: string | null;
  signature: string | null;
  parameters: Record<string, string>;
  doubled: string[];
  token: string | null;
  earlier: string | null;
}

/** The way in. `token` opens the session at the address `socket`; `assignment` is the id that it has, or will have. */
export interface JoinResponse {
  token: string;
  socket: string;
  assignment: string;
}

/** Why there is no way in. `words`: what the page says in the study's language, where the server told so. */
export interface JoinRefused {
  code: string;
  problem: Problem;
  words: TextsCard | null;
}

export type JoinResult = ({ ok: true } & JoinResponse) | ({ ok: false } & JoinRefused);

const PATIENCE_MS = 15_000;

/** Ask the server for the way into a run. Never throws: whatever goes wrong is a problem to show. */
export async function join(request: JoinRequest): Promise<JoinResult> {
  try {
    const answer = await fetch(atServer("/api/join"), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(request),
      signal: abortedAfter(PATIENCE_MS),
    });
    const body: unknown = await answer.json().catch(() => null);
    if (answer.ok && isJoinResponse(body)) {
      return { ok: true, ...body };
    }
    return isErrorBody(body) ? refused(body) : failed("internal");
  } catch {
    return failed("unreachable");
  }
}

interface RefusalBody extends ErrorBody {
  words?: TextsCard | null;
  again_at?: string | null;
  way_back?: WayBackCard | null;
}

function refused(body: RefusalBody): JoinResult {
  const { code, message, hint } = body.error;
  const problem = problemOf(code, message, hint, body.again_at, body.way_back);
  return { ok: false, code, problem, words: body.words ?? null };
}

function failed(code: string): JoinResult {
  return { ok: false, code, problem: problemOf(code), words: null };
}

function isJoinResponse(body: unknown): body is JoinResponse {
  const { token, socket, assignment } = (body ?? {}) as Record<keyof JoinResponse, unknown>;
  return [token, socket, assignment].every((field) => typeof field === "string");
}

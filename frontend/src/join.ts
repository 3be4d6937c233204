import { problemOf, type ErrorBody, type Problem } from "./problem";

/** Who comes to which run. `token`: what this browser was given earlier. */
export interface Arrival {
  run: string;
  worker: string | null;
  token: string | null;
}

export type Joined =
  | { ok: true; token: string; socket: string }
  | { ok: false; code: string; problem: Problem };

const PATIENCE_MS = 15_000;

/** Ask the server for a place in a run. Never throws: whatever goes wrong is a problem to show. */
export async function join(arrival: Arrival): Promise<Joined> {
  try {
    const answer = await fetch("/api/join", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(arrival),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const body: unknown = await answer.json().catch(() => null);
    if (answer.ok && isPlace(body)) {
      return { ok: true, ...body };
    }
    return failed(body);
  } catch {
    return { ok: false, code: "unreachable", problem: problemOf("unreachable") };
  }
}

function failed(body: unknown): Joined {
  if (!isErrorBody(body)) {
    return { ok: false, code: "internal", problem: problemOf("internal") };
  }
  const { code, message, hint } = body.error;
  return { ok: false, code, problem: problemOf(code, message, hint) };
}

function isPlace(body: unknown): body is { token: string; socket: string } {
  const place = body as { token?: unknown; socket?: unknown } | null;
  return typeof place?.token === "string" && typeof place.socket === "string";
}

/** Whether this is the error shape of the server's HTTP interface. */
export function isErrorBody(body: unknown): body is ErrorBody {
  const error = (body as { error?: { code?: unknown; message?: unknown } } | null)?.error;
  return typeof error?.code === "string" && typeof error.message === "string";
}

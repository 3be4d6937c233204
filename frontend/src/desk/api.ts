import { isErrorBody } from "../shared/error_body";
import type { Answers } from "./api_types";

/** The paths of the researcher's interface that this page asks, with `{…}` for what is put in. */
export type ApiPath = keyof Answers;

/** The server wants another token than the one that was shown. */
export class Unauthorised extends Error {}

/** The server said no, or could not be reached; the message is for the researcher. */
export class Failed extends Error {}

/** Return the address of a path: each `{name}` replaced by the value of that name. */
export function apiAddress(path: ApiPath, values: Record<string, string>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));
}

/**
 * Return what the researcher's interface answers at `path` with `values` put in.
 *
 * Throws Unauthorised when the token is not accepted, Failed for everything else.
 */
export async function getJson<P extends ApiPath>(
  path: P,
  values: Record<string, string>,
  token: string,
  signal: AbortSignal,
): Promise<Answers[P]> {
  const answer = await fetch(apiAddress(path, values), {
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
  return body as Answers[P];
}

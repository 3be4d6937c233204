import { isErrorBody } from "../shared/error_body";
import { atServer } from "../shared/site";
import type { Account, Answers } from "./api_types";

/** The paths of the researcher's interface that this page asks, with `{…}` for what is put in. */
export type ApiPath = keyof Answers;

/** The server wants another token than the one that was shown. */
export class Unauthorised extends Error {}

/** The server said no, or could not be reached; the message is for the researcher, `code` for this page. */
export class Failed extends Error {
  readonly code: string | null;

  constructor(message: string, code: string | null = null) {
    super(message);
    this.code = code;
  }
}

/** The server said no, and would say so again. */
export class Refused extends Failed {}

/** Return the address of a path: each `{name}` replaced by the value of that name. */
export function apiAddress(path: string, values: Record<string, string>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));
}

/** The server wants to know first whether it is meant: the message says what it costs. */
class NeedsConfirmation extends Refused {}

/**
 * Return what the researcher's interface answers at `path` with `values` put in, asked with `query`.
 *
 * Throws Unauthorised when the token is not accepted, Failed for everything else.
 */
export async function getJson<P extends ApiPath>(
  path: P,
  values: Record<string, string>,
  token: string,
  signal: AbortSignal,
  query: Record<string, string> = {},
): Promise<Answers[P]> {
  const address = `${apiAddress(path, values)}${asQuery(query)}`;
  const answer = await answered(address, { headers: bearing(token), signal });
  return (await answer.json()) as Answers[P];
}

/** Save what is answered at `address` as a file of that name. Throws as `getJson` does. */
export async function getFile(
  address: string,
  token: string,
  query: Record<string, string>,
  name: string,
): Promise<void> {
  await saved(await answered(`${address}${asQuery(query)}`, { headers: bearing(token) }), name);
}

/** Send `body` to `address`, and save what is answered as a file of that name. Throws as `getJson` does. */
export async function postForFile(
  address: string,
  token: string,
  body: unknown,
  name: string,
): Promise<void> {
  const headers = { ...bearing(token), "Content-Type": "application/json" };
  await saved(await answered(address, { method: "POST", headers, body: JSON.stringify(body) }), name);
}

async function saved(answer: Response, name: string): Promise<void> {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

function asQuery(query: Record<string, string>): string {
  const text = new URLSearchParams(query).toString();
  return text && `?${text}`;
}

/**
 * Have the researcher's interface do something: send `body` to `address`, and return what it answers.
 *
 * Where the server wants it confirmed, the page asks, with `verb` on the button, and it is sent again. Throws
 * Unauthorised when the token is not accepted, Failed for everything else; without a message where the answer
 * was no.
 */
export async function send(
  method: Method,
  address: string,
  body: unknown,
  token: string,
  verb = "Continue",
): Promise<unknown> {
  return confirmedFirst(body, verb, (sent) => sendOnce(method, address, sent, token));
}

/** Call the server with `body`; where it wants that confirmed, ask first, and call it again. */
async function confirmedFirst<T>(
  body: unknown,
  verb: string,
  call: (sent: unknown) => Promise<T>,
): Promise<T> {
  try {
    return await call(body);
  } catch (error) {
    if (!(error instanceof NeedsConfirmation && confirmFirst)) {
      throw error;
    }
    if (!(await confirmFirst(error.message, verb))) {
      throw new Refused("");
    }
    return call({ ...(body as object | undefined), confirmed: true });
  }
}

type Method = "POST" | "PUT" | "PATCH" | "DELETE";

async function sendOnce(method: Method, address: string, body: unknown, token: string): Promise<unknown> {
  const answer = await answered(address, {
    method,
    headers: { ...bearing(token), "Content-Type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  return answer.status === 204 ? null : answer.json();
}

/** An event that the server has pushed, and its name. */
export interface PushedEvent {
  id: string;
  data: string;
}

/**
 * Yield the events that the server pushes at `address`, those after the one named `last`.
 *
 * Throws Unauthorised when the token is not accepted, Failed for everything else; ends when the server does.
 */
export async function* readStream(
  address: string,
  token: string,
  last: string | null,
  signal: AbortSignal,
): AsyncGenerator<PushedEvent> {
  const headers = { ...bearing(token), ...(last === null ? {} : { "Last-Event-ID": last }) };
  yield* eventsOf(await answered(address, { headers, signal }), signal);
}

/**
 * Send `body` to `address`, and yield the events that the server answers with.
 *
 * It asks for confirmation as `send` does, and throws as `send` does; ends when the server does.
 */
export async function* postForStream(
  address: string,
  body: unknown,
  token: string,
  verb: string,
  signal: AbortSignal,
): AsyncGenerator<PushedEvent> {
  const headers = { ...bearing(token), "Content-Type": "application/json" };
  const answer = await confirmedFirst(body, verb, (sent) =>
    answered(address, { method: "POST", headers, body: JSON.stringify(sent), signal }),
  );
  yield* eventsOf(answer, signal);
}

/** Yield the events in an answer as they come. Throws Failed if the connection is lost. */
async function* eventsOf(answer: Response, signal: AbortSignal): AsyncGenerator<PushedEvent> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  while (reader) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      throw signal.aborted ? error : new Failed("The connection to the server is lost.");
    });
    if (done) {
      return;
    }
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop() ?? "";
    yield* blocks.map(eventOf).filter((event) => event !== null);
  }
}

/** The event that a block of lines holds; null where it is a comment that keeps the connection open. */
export function eventOf(block: string): PushedEvent | null {
  const valuesOf = (field: string) =>
    block
      .split("\n")
      .filter((line) => line.startsWith(`${field}:`))
      .map((line) => line.slice(field.length + 1).trimStart());
  const data = valuesOf("data");
  return data.length === 0 ? null : { id: valuesOf("id").at(-1) ?? "", data: data.join("\n") };
}

/** Return who calls, and what they may do. Throws Unauthorised where that is nobody. */
export async function accountOf(token: string): Promise<Account> {
  const answer = await fetch(atServer("/api/account"), { headers: bearing(token) });
  if (!answer.ok) {
    throw new Unauthorised();
  }
  return (await answer.json()) as Account;
}

let signInAgain: (() => Promise<string>) | null = null;

/**
 * Say what is done when the server knows nobody any more, as after a night: `ask` has somebody sign in, and
 * returns their token, empty for a person. The calls that were made meanwhile wait for it and are sent again.
 */
export function askAgain(ask: (() => Promise<string>) | null): void {
  signInAgain = ask;
}

let confirmFirst: ((question: string, verb: string) => Promise<boolean>) | null = null;

/** Say how somebody is asked whether they mean what costs money: `ask` returns whether they do. */
export function askFirst(ask: ((question: string, verb: string) => Promise<boolean>) | null): void {
  confirmFirst = ask;
}

/** The header of a token; without one the browser shows its sign-in by itself. */
function bearing(token: string): Record<string, string> {
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/** The server's answer, once it is known to be a good one. Throws as `getJson` does. */
async function answered(address: string, request: RequestInit): Promise<Response> {
  const answer = await fetch(atServer(address), request).catch((error: unknown) => {
    throw request.signal?.aborted ? error : new Failed("The server can’t be reached.");
  });
  if (answer.status === 401 && signInAgain) {
    const { Authorization: _, ...headers } = request.headers as Record<string, string>;
    return answered(address, { ...request, headers: { ...headers, ...bearing(await signInAgain()) } });
  }
  if (answer.status === 401) {
    throw new Unauthorised();
  }
  if (!answer.ok) {
    const body: unknown = await answer.json().catch(() => null);
    if (isErrorBody(body) && body.error.code === "needs_confirmation") {
      throw new NeedsConfirmation(body.error.message, body.error.code);
    }
    const again = answer.status >= 500 || answer.status === 429;
    throw new (again ? Failed : Refused)(
      isErrorBody(body) ? `${body.error.message}. ${body.error.hint}` : `HTTP ${answer.status}`,
      isErrorBody(body) ? body.error.code : null,
    );
  }
  return answer;
}

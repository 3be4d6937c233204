/** The one error shape of the server's HTTP interface. */
export interface ErrorBody {
  error: { code: string; message: string; hint: string };
}

/** Whether this is the error shape of the server's HTTP interface. */
export function isErrorBody(body: unknown): body is ErrorBody {
  const error = (body as { error?: { code?: unknown; message?: unknown } } | null)?.error;
  return typeof error?.code === "string" && typeof error.message === "string";
}

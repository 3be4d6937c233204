import { abortedAfter } from "../../shared/browser";
import { atServer } from "../../shared/site";

const PATIENCE_MS = 10_000;
const LONGEST = 300;

/** Trouble of a page: it cannot open the WebSocket, could not draw a part, or is translated by the browser. */
export type Trouble = "no_socket" | "not_drawn" | "translated";

/** Tell the server of trouble over plain HTTP; returns whether it has heard. */
export async function tellTrouble(token: string, trouble: Trouble, text: string): Promise<boolean> {
  const answer = await fetch(atServer("/api/page-trouble"), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token, trouble, text: text.slice(0, LONGEST) }),
    signal: abortedAfter(PATIENCE_MS),
  }).catch(() => null);
  return answer?.ok ?? false;
}

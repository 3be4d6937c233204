import { abortedAfter } from "../../shared/browser";
import { atServer } from "../../shared/site";

const PATIENCE_MS = 10_000;
const LONGEST = 300;

/** What a page tells of itself: no WebSocket comes about, or a part of it could not be drawn. */
export type Trouble = "no_socket" | "not_drawn";

/** Tell the server over plain HTTP what keeps this page from working; returns whether it has heard. */
export async function tellTrouble(token: string, trouble: Trouble, text: string): Promise<boolean> {
  const answer = await fetch(atServer("/api/page-trouble"), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token, trouble, text: text.slice(0, LONGEST) }),
    signal: abortedAfter(PATIENCE_MS),
  }).catch(() => null);
  return answer?.ok ?? false;
}

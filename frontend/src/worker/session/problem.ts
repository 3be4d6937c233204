import type { WayBackCard } from "./protocol";

/** Something that keeps the page from going on, told as a page of its own. */
export interface Problem {
  /** What it is, as the server named it. */
  code: string;
  /** The server's own words, for a problem that the page has no words for. */
  message: string | null;
  /** What the button is called, which loads the page again; null where that would change nothing. */
  remedy: "retry" | "reload" | "start_anew" | null;
  /** When newcomers are taken again, where they are not at this hour. */
  againAt: string | null;
  /** Where somebody who can't take part returns the study; null where they came from no platform. */
  wayBack: WayBackCard | null;
}

const REMEDIES: Record<string, Problem["remedy"]> = {
  run_not_found: null,
  run_closed: null,
  run_complete: null,
  took_part: null,
  not_invited: null,
  link_unsigned: null,
  link_altered: null,
  link_expired: null,
  link_unfilled: null,
  link_ambiguous: null,
  already_took_part: null,
  invalid_request: null,
  token_expired: null,
  token_invalid: "start_anew",
  assignment_not_found: "start_anew",
  outdated_page: "reload",
};

/** The problem that an error of the server's means. */
export function problemOf(
  code: string,
  message?: string,
  hint?: string,
  againAt: string | null = null,
  wayBack: WayBackCard | null = null,
): Problem {
  const words = [message, hint].filter(Boolean).map(sentence).join(" ");
  const remedy = REMEDIES[code];
  return {
    code,
    message: words || null,
    remedy: remedy === undefined ? "retry" : remedy,
    againAt,
    wayBack,
  };
}

function sentence(text: string | undefined): string {
  const words = text ?? "";
  const start = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?]$/.test(start) ? start : `${start}.`;
}

const REFUSED_ENTRY = new Set([
  "run_full",
  "run_not_ready",
  "run_paused",
  "run_out_of_hours",
  "run_complete",
  "run_closed",
  "took_part",
  "already_took_part",
  "link_unsigned",
]);

/** Whether a refusal means that there is no place for somebody who has just agreed. */
export function isRefusedEntry(code: string): boolean {
  return REFUSED_ENTRY.has(code);
}

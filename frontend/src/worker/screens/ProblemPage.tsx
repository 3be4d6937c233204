import { useEffect } from "preact/hooks";
import { Button } from "../../design/Button";
import { localeOf } from "../../shared/locale";
import { useTexts } from "../hooks";
import { ReturnLink } from "../ReturnLink";
import type { Problem } from "../session/problem";
import type { TextKey } from "../texts/words";
import { StaticPage } from "./StaticPage";

const WORDS: Record<string, [title: TextKey, text: TextKey]> = {
  run_not_found: ["problem.run_not_found_title", "problem.run_not_found"],
  run_closed: ["problem.run_closed_title", "problem.run_closed"],
  run_not_ready: ["problem.run_not_ready_title", "problem.run_not_ready"],
  run_paused: ["problem.run_paused_title", "problem.run_paused"],
  run_out_of_hours: ["problem.run_out_of_hours_title", "problem.run_out_of_hours"],
  run_complete: ["problem.run_complete_title", "problem.run_complete"],
  not_invited: ["problem.not_invited_title", "problem.not_invited"],
  took_part: ["problem.took_part_title", "problem.took_part"],
  run_full: ["problem.run_full_title", "problem.run_full"],
  already_took_part: ["problem.already_took_part_title", "problem.already_took_part"],
  link_unsigned: ["problem.link_unsigned_title", "problem.link_unsigned"],
  link_altered: ["problem.link_incomplete_title", "problem.link_altered"],
  link_expired: ["problem.token_expired_title", "problem.link_expired"],
  rate_limited: ["problem.rate_limited_title", "problem.rate_limited"],
  token_expired: ["problem.token_expired_title", "problem.token_expired"],
  token_invalid: ["problem.forgotten_title", "problem.forgotten"],
  assignment_not_found: ["problem.forgotten_title", "problem.forgotten"],
  outdated_page: ["problem.outdated_page_title", "problem.outdated_page"],
  link_unfilled: ["problem.link_incomplete_title", "problem.link_unfilled"],
  link_ambiguous: ["problem.link_incomplete_title", "problem.link_ambiguous"],
  invalid_request: ["problem.link_incomplete_title", "problem.invalid_request"],
  unreachable: ["problem.unreachable_title", "problem.unreachable"],
  internal: ["problem.other_title", "problem.other"],
};

/** Problems that whoever made the link has to solve: the server's words are for them. */
const FOR_RESEARCHERS = new Set(["link_unfilled", "link_ambiguous"]);
/** What may be over in a while, so that the page looks again by itself. */
const PASSING = new Set(["run_full", "run_not_ready", "run_paused", "run_out_of_hours", "rate_limited"]);
const LOOK_AGAIN_MS = 60_000;

/** The session can't be opened: why, and what to do about it. */
export function ProblemPage({ problem: { code, message, remedy, againAt, wayBack } }: { problem: Problem }) {
  const { say, language } = useTexts();
  const passes = PASSING.has(code);
  useEffect(() => {
    // Spread, so that a class that was refused at once does not come back at once.
    const timer = passes
      ? setTimeout(() => window.location.reload(), LOOK_AGAIN_MS * (0.5 + Math.random()))
      : undefined;
    return () => clearTimeout(timer);
  }, [passes]);
  const known = WORDS[code];
  const [title, text] = known ?? ["problem.other_title", "problem.other"];
  return (
    <StaticPage title={say(title)}>
      <p>{(!known && message) || say(text)}</p>
      {FOR_RESEARCHERS.has(code) && message && <p class="small soft">{message}</p>}
      {againAt && <p>{say("problem.again_at", { when: timeThere(againAt, language) })}</p>}
      {passes && <p class="soft small">{say("problem.looks_again")}</p>}
      {wayBack && <p>{say("problem.way_back", { platform: wayBack.platform })}</p>}
      {(remedy || wayBack?.to) && (
        <div class="actions">
          {wayBack?.to && <ReturnLink to={wayBack.to} />}
          {remedy && <Button onClick={() => window.location.reload()}>{say(`problem.${remedy}`)}</Button>}
        </div>
      )}
    </StaticPage>
  );
}

/** A time on the worker's own clock: the weekday, the date, the hour, and of which zone. */
function timeThere(at: string, language: string): string {
  const shown = {
    weekday: "long",
    day: "numeric",
    month: "long",
    hour: "numeric",
    minute: "2-digit",
  } as const;
  return new Intl.DateTimeFormat(localeOf(language), { ...shown, timeZoneName: "short" }).format(
    new Date(at),
  );
}

import { Bar } from "../design/Bar";
import type { RunSummary } from "./api_types";
import { inMinutes, moment, when } from "./format";

/** How far a run is: "12 of 20 submitted, about 40 min to go", with a bar if there is a target; unless it is `brief`, its
 * limits, too. */
export function Progress({ run, brief }: { run: RunSummary; brief?: boolean }) {
  const shares = sharesOf(run);
  const [done = "", ...more] = (brief ? paceOf(run, new Date()).join(", ") : progressOf(run)).split(", ");
  return (
    <div class="progress-of">
      {shares && (
        <Bar
          parts={[
            { share: shares.completed, kind: "rated" },
            { share: shares.active, kind: "active" },
          ]}
        />
      )}
      <p class="small">
        {done}
        {more.length > 0 && <span class="soft">, {more.join(", ")}</span>}
      </p>
    </div>
  );
}

/** The shares of a run's slots in percent, together at most 100; null for a run without a target. */
export function sharesOf({ places, assignments }: RunSummary): { completed: number; active: number } | null {
  if (places === null) {
    return null;
  }
  const { completed, active } = assignments;
  const most = Math.max(1, places, completed + active);
  return { completed: (100 * completed) / most, active: (100 * active) / most };
}

/** Whether a target, a limit or opening hours bound a run. */
export function isBounded({ places, limits }: RunSummary): boolean {
  const { target, budget, places_open, opens_at } = limits;
  return places !== null || target !== "" || budget !== null || places_open !== null || opens_at !== null;
}

/** How far a run is, in words. */
export function progressOf(run: RunSummary, now: Date = new Date()): string {
  const { target, places_open, spent, budget, currency } = run.limits;
  const parts = paceOf(run, now);
  if (places_open !== null && run.status === "open" && !opensLater(run, now)) {
    parts.push(`${places_open} ${places_open === 1 ? "slot" : "slots"} open`);
  }
  if (spent !== null && budget !== null) {
    parts.push(`${spent.toFixed(2)} of ${budget.toFixed(2)} ${currency} spent`.replace("  ", " "));
  }
  return `${parts.join(", ")}${target && `. Target: ${target}`}`;
}

/** How many have submitted, and when the rest may be there. */
function paceOf(run: RunSummary, now: Date): string[] {
  const { completed, active } = run.assignments;
  const parts = [run.places === null ? `${completed} submitted` : `${completed} of ${run.places} submitted`];
  if (active > 0) {
    parts.push(`${active} in progress`);
  }
  if (run.minutes_to_go !== null && run.status === "open" && run.places !== completed) {
    const toGo = run.minutes_to_go < 1 ? "less than a minute" : `about ${inMinutes(run.minutes_to_go)}`;
    parts.push(`${toGo} to go`);
  }
  if (opensLater(run, now)) {
    parts.push(`outside opening hours until ${when(run.limits.opens_at)}`);
  }
  return parts;
}

function opensLater({ limits: { opens_at } }: RunSummary, now: Date): boolean {
  return opens_at !== null && moment(opens_at) > now;
}

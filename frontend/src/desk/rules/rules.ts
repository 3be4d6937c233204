import { numberIn } from "../../shared/numbers";
import type { Hours, RunRules } from "../api_types";
import { complaintOf } from "../jobs/numbers";

export const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;
export type Day = (typeof DAYS)[number];
export type End = "none" | "assignments" | "conversations_per_system" | "widest_interval";

/** Hours in which a run is open, as they stand in a form. */
export interface HoursDraft {
  days: Day[];
  opens: string;
  closes: string;
}

/** The rules of a run as they stand in a form: numbers are texts, and empty where nothing is limited. */
export interface RulesDraft {
  end: End;
  goal: string;
  total: string;
  pay: string;
  /** In percent. */
  fee: string;
  currency: string;
  most: string;
  zone: string;
  hours: HoursDraft[];
  runs: string[];
  /** Ids of workers, one a line. */
  workers: string;
}

export type Complaints = Partial<
  Record<"goal" | "total" | "pay" | "fee" | "most" | "zone" | "hours", string | undefined>
>;

/** Hours to begin with, where a run has had none. */
export const OFFICE_HOURS: HoursDraft = { days: DAYS.slice(0, 5), opens: "09:00", closes: "18:00" };

/** Return rules as a form shows them; `zone` is put in where they have no hours. */
export function draftOf(rules: RunRules, zone: string): RulesDraft {
  const { target, budget, opening_hours: opening } = rules;
  const [end, goal] = Object.entries(target ?? {}).find(([, value]) => value !== null) ?? ["none", null];
  return {
    end: end as End,
    goal: textOf(goal),
    total: textOf(budget?.total),
    pay: textOf(budget?.pay),
    fee: budget ? textOf(100 * Number(budget.fee_share ?? 0)) : "",
    currency: budget?.currency ?? "",
    most: textOf(rules.most_at_once),
    zone: opening?.time_zone ?? zone,
    hours: (opening?.hours ?? []).map(hoursDraft),
    runs: rules.excluded_runs ?? [],
    workers: (rules.excluded_workers ?? []).join("\n"),
  };
}

function hoursDraft({ days, opens, closes }: Hours): HoursDraft {
  return { days: days ?? [...DAYS], opens: opens.slice(0, 5), closes: closes.slice(0, 5) };
}

function textOf(value: number | string | null | undefined): string {
  return value === null || value === undefined
    ? ""
    : String(typeof value === "number" ? +value.toFixed(4) : +value);
}

/** Return the rules that a form says. It has to be without mistakes. */
export function rulesOf(draft: RulesDraft): RunRules {
  const goal = numberIn(draft.goal) ?? null;
  const total = numberIn(draft.total) ?? null;
  return {
    target: draft.end === "none" ? null : { [draft.end]: goal },
    budget:
      total === null
        ? null
        : {
            total,
            pay: numberIn(draft.pay) ?? 0,
            fee_share: +((numberIn(draft.fee) ?? 0) / 100).toFixed(4),
            currency: draft.currency.trim(),
          },
    most_at_once: numberIn(draft.most) ?? null,
    opening_hours: draft.hours.length === 0 ? null : { time_zone: draft.zone.trim(), hours: draft.hours },
    excluded_runs: draft.runs,
    excluded_workers: idsIn(draft.workers),
  };
}

/** The ids in a text, one a line, each once. */
export function idsIn(text: string): string[] {
  return [...new Set(text.split("\n").map((line) => line.trim()))].filter(Boolean);
}

/** What is wrong in a form, field by field; nothing where it can be sent. */
export function mistakesIn(draft: RulesDraft): Complaints {
  const isPaid = draft.total.trim() !== "";
  const found: Complaints = {
    goal: goalComplaint(draft),
    total: complaintOf(draft.total, 0.0001, 99_999_999),
    pay: complaintOf(draft.pay, 0.0001, 99_999_999, { needed: isPaid }),
    fee: complaintOf(draft.fee, 0, 500),
    most: complaintOf(draft.most, 1, 100_000, { whole: true }),
    zone:
      draft.hours.length > 0 && draft.zone.trim() === ""
        ? "Enter a time zone, such as Europe/Berlin."
        : undefined,
    hours: draft.hours.some(({ days }) => days.length === 0) ? "Choose at least one day." : undefined,
  };
  return Object.fromEntries(Object.entries(found).filter(([, complaint]) => complaint !== undefined));
}

function goalComplaint({ end, goal }: RulesDraft): string | undefined {
  switch (end) {
    case "none":
      return undefined;
    case "widest_interval":
      return complaintOf(goal, 0.0001, 10, { needed: true });
    default:
      return complaintOf(goal, 1, 1_000_000, { whole: true, needed: true });
  }
}

/** Why the run would end as soon as these rules count, in words; null where it would not. */
export function endsAtOnce(draft: RulesDraft, completed: number): string | null {
  const goal = numberIn(draft.goal);
  const [total, pay, fee] = [draft.total, draft.pay, draft.fee].map((text) => numberIn(text) ?? 0);
  if (draft.end === "assignments" && typeof goal === "number" && goal <= completed) {
    return `${completed} assignments are submitted already`;
  }
  const each = (pay ?? 0) * (1 + (fee ?? 0) / 100);
  if (total && each > 0 && Math.floor(total / each) <= completed) {
    return `the budget pays for ${Math.floor(total / each)} assignments, and ${completed} are submitted already`;
  }
  return null;
}

import { useId } from "preact/hooks";
import { Button } from "../../design/Button";
import { NumberField } from "../jobs/NumberField";
import {
  type Complaints,
  DAYS,
  type Day,
  type End,
  type HoursDraft,
  OFFICE_HOURS,
  type RulesDraft,
} from "./rules";
import "./rules.css";

interface Props {
  draft: RulesDraft;
  wrong: Complaints;
  /** The runs whose workers can be kept out. */
  others: string[];
  onDraft: (draft: RulesDraft) => void;
}

const ENDS: Record<End, string> = {
  none: "None: you close the run",
  assignments: "Submitted assignments",
  conversations_per_system: "Ratings per system",
  widest_interval: "Precision of the scores",
};

const GOALS: Record<End, [label: string, hint: string]> = {
  none: ["", ""],
  assignments: ["Assignments", "The run ends when people have submitted this many."],
  conversations_per_system: [
    "Rated conversations per system",
    "The run ends when each system has this many, in submitted assignments.",
  ],
  widest_interval: [
    "Widest interval",
    "The run ends when no score’s interval is wider, in z scores. The intervals hold at every look, so stopping early is sound.",
  ],
};

/** All rules of a run as fields. Those that are left empty limit nothing. */
export function RulesFields({ draft, wrong, others, onDraft }: Props) {
  const id = useId();
  const set = (change: Partial<RulesDraft>) => onDraft({ ...draft, ...change });
  const [goal, goalHint] = GOALS[draft.end];
  const field = (name: "total" | "pay" | "fee" | "most", label: string, hint: string) => (
    <NumberField
      id={`${id}-${name}`}
      label={label}
      hint={hint}
      value={draft[name]}
      onValue={(value) => set({ [name]: value })}
      complaint={wrong[name]}
    />
  );
  return (
    <div class="rules">
      <fieldset>
        <legend>Target</legend>
        <div class="rules-row">
          <div class="field field-wide">
            <label class="label" for={`${id}-end`}>
              Type of target
            </label>
            <select
              id={`${id}-end`}
              class="input"
              value={draft.end}
              onChange={(event) => set({ end: event.currentTarget.value as End })}
            >
              {Object.entries(ENDS).map(([end, name]) => (
                <option key={end} value={end}>
                  {name}
                </option>
              ))}
            </select>
          </div>
          {draft.end !== "none" && (
            <NumberField
              id={`${id}-goal`}
              label={goal}
              hint={goalHint}
              value={draft.goal}
              onValue={(value) => set({ goal: value })}
              complaint={wrong.goal}
            />
          )}
        </div>
      </fieldset>
      <fieldset>
        <legend>Budget</legend>
        <div class="rules-row">
          {field("total", "Total budget", "Leave empty for no limit.")}
          {field("pay", "Pay per assignment", "What a worker gets.")}
          {field("fee", "Platform fee (%)", "Added to the pay.")}
          <div class="field">
            <label class="label" for={`${id}-currency`}>
              Currency
            </label>
            <input
              id={`${id}-currency`}
              class="input"
              maxLength={10}
              value={draft.currency}
              onInput={(event) => set({ currency: event.currentTarget.value })}
            />
          </div>
        </div>
      </fieldset>
      <fieldset>
        <legend>Workers and opening hours</legend>
        <div class="rules-row">{field("most", "Workers at the same time", "Leave empty for no limit.")}</div>
        <OpeningHours draft={draft} wrong={wrong} set={set} />
        {others.length > 0 && (
          <fieldset>
            <legend class="label">Exclude workers of these runs</legend>
            <div class="rules-ticks">
              {others.map((run) => (
                <label key={run} class="filter-check">
                  <input
                    type="checkbox"
                    checked={draft.runs.includes(run)}
                    onChange={(event) => set({ runs: toggled(draft.runs, run, event.currentTarget.checked) })}
                  />
                  {run}
                </label>
              ))}
            </div>
          </fieldset>
        )}
        <div class="field">
          <label class="label" for={`${id}-workers`}>
            Exclude these workers
          </label>
          <textarea
            id={`${id}-workers`}
            class="input"
            rows={2}
            spellcheck={false}
            value={draft.workers}
            aria-describedby={`${id}-workers-hint`}
            onInput={(event) => set({ workers: event.currentTarget.value })}
          />
          <p class="soft small" id={`${id}-workers-hint`}>
            Their ids on the platform, one per line.
          </p>
        </div>
      </fieldset>
      <p class="soft small">
        Candor admits a few more workers than needed, because some give up. How many depends on the share that
        gave up so far.
      </p>
    </div>
  );
}

interface HoursProps {
  draft: RulesDraft;
  wrong: Complaints;
  set: (change: Partial<RulesDraft>) => void;
}

function OpeningHours({ draft, wrong, set }: HoursProps) {
  const id = useId();
  const put = (at: number, change: Partial<HoursDraft>) =>
    set({ hours: draft.hours.map((hours, index) => (index === at ? { ...hours, ...change } : hours)) });
  return (
    <fieldset>
      <legend class="label">Opening hours</legend>
      {draft.hours.length === 0 && <p class="soft small">New workers are admitted at any time.</p>}
      {draft.hours.map((hours, at) => (
        <fieldset key={at} class="rules-hours">
          <legend class="unseen">Hours {at + 1}</legend>
          <div class="rules-ticks">
            {DAYS.map((day) => (
              <label key={day} class="filter-check">
                <input
                  type="checkbox"
                  checked={hours.days.includes(day)}
                  onChange={(event) =>
                    put(at, { days: inWeek(toggled(hours.days, day, event.currentTarget.checked)) })
                  }
                />
                {day}
              </label>
            ))}
          </div>
          <div class="rules-times">
            <label>
              from{" "}
              <input
                class="input"
                type="time"
                required
                value={hours.opens}
                onInput={(event) => put(at, { opens: event.currentTarget.value })}
              />
            </label>
            <label>
              to{" "}
              <input
                class="input"
                type="time"
                required
                value={hours.closes}
                onInput={(event) => put(at, { closes: event.currentTarget.value })}
              />
            </label>
            <Button
              kind="quiet"
              onClick={() => set({ hours: draft.hours.filter((_, index) => index !== at) })}
            >
              Remove<span class="unseen"> hours {at + 1}</span>
            </Button>
          </div>
        </fieldset>
      ))}
      {draft.hours.length > 0 && (
        <div class="field">
          <label class="label" for={`${id}-zone`}>
            Time zone
          </label>
          <input
            id={`${id}-zone`}
            class="input"
            value={draft.zone}
            onInput={(event) => set({ zone: event.currentTarget.value })}
          />
        </div>
      )}
      <p class="complaint">{wrong.zone ?? wrong.hours ?? ""}</p>
      <Button
        kind="secondary"
        onClick={() => set({ hours: [...draft.hours, draft.hours.at(-1) ?? OFFICE_HOURS] })}
      >
        Add hours
      </Button>
    </fieldset>
  );
}

function toggled<T>(all: T[], one: T, is: boolean): T[] {
  return is ? [...all, one] : all.filter((other) => other !== one);
}

function inWeek(days: Day[]): Day[] {
  return DAYS.filter((day) => days.includes(day));
}

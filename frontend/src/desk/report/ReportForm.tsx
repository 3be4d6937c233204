import { useState } from "preact/hooks";
import { numberIn } from "../../shared/numbers";
import { apiAddress } from "../api";
import { useFetched } from "../fetched";
import { JobForm } from "../jobs/JobForm";
import { NumberField } from "../jobs/NumberField";
import { complaintOf } from "../jobs/numbers";

interface Props {
  run: string;
  first: boolean;
  onCancel?: () => void;
}

/** What a report is asked for. The usual one needs nothing but the button. */
export function ReportForm({ run, first, onCancel }: Props) {
  const { data } = useFetched("/api/desk/runs", {}, run);
  const [alpha, setAlpha] = useState("0.05");
  const [reward, setReward] = useState("");
  const [replicate, setReplicate] = useState("");
  const [simulated, setSimulated] = useState(false);
  const [partial, setPartial] = useState(false);
  const study = data?.runs.find((each) => each.run === run)?.study;
  const others = (data?.runs ?? []).filter((each) => each.run !== run && each.study === study);
  const wrong = {
    alpha: complaintOf(alpha, 0.0001, 0.9999, { needed: true }),
    reward: complaintOf(reward, 0, 1_000_000),
  };
  const ready = !wrong.alpha && !wrong.reward;
  const body = () => ({
    alpha: numberIn(alpha),
    reward: numberIn(reward),
    replicate: replicate || null,
    workers: simulated ? "simulated" : "people",
    include_partial: partial,
  });
  return (
    <JobForm
      address={apiAddress("/api/desk/runs/{run}/reports", { run })}
      body={body}
      ready={ready}
      button="Make a report"
      onCancel={onCancel}
    >
      <p class="soft">
        {first && "No report yet. "}A report says which workers pass quality control, how the systems score,
        and how certain that is. It covers what has been submitted so far.
      </p>
      <details>
        <summary>Options</summary>
        <div class="job-fields">
          <NumberField
            id="alpha"
            label="Level α"
            hint="A worker passes quality control with a p-value below it."
            value={alpha}
            onValue={setAlpha}
            complaint={wrong.alpha}
          />
          <NumberField
            id="reward"
            label="Pay per assignment"
            hint="Optional, for the section on cost."
            value={reward}
            onValue={setReward}
            complaint={wrong.reward}
          />
          <div class="field">
            <label class="label" for="replicate">
              Second run
            </label>
            <select
              id="replicate"
              class="input"
              value={replicate}
              aria-describedby="replicate-hint"
              onChange={(event) => setReplicate(event.currentTarget.value)}
            >
              <option value="">None</option>
              {others.map((other) => (
                <option key={other.run} value={other.run}>
                  {other.run}
                </option>
              ))}
            </select>
            <p class="soft small" id="replicate-hint">
              Another run of this study, to check whether the results agree.
            </p>
          </div>
        </div>
        <Tick id="simulated" checked={simulated} onChange={setSimulated}>
          Report on simulated workers instead of people
        </Tick>
        <Tick id="partial" checked={partial} onChange={setPartial}>
          Include incomplete assignments
        </Tick>
      </details>
    </JobForm>
  );
}

interface TickProps {
  id: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
  children: string;
}

function Tick({ id, checked, onChange, children }: TickProps) {
  return (
    <p class="job-tick">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label for={id}>{children}</label>
    </p>
  );
}

import { useState } from "preact/hooks";
import { numberIn } from "../../shared/numbers";
import { apiAddress } from "../api";
import type { RehearsalOptionsAsked } from "../api_types";
import { JobForm } from "../jobs/JobForm";
import { NumberField } from "../jobs/NumberField";
import { complaintOf } from "../jobs/numbers";
import { RehearsalCalls } from "./RehearsalCalls";

/** How a study is to be rehearsed, beginning with what was asked for last. */
export function RehearsalForm({ run, last }: { run: string; last: RehearsalOptionsAsked | null }) {
  const [workers, setWorkers] = useState(String(last?.workers ?? 40));
  const [planned, setPlanned] = useState(textOf(last?.planned));
  const [pay, setPay] = useState(textOf(last?.pay));
  const [fee, setFee] = useState(last ? String(Math.round(10_000 * (last.fee ?? 0)) / 100) : "0");
  const [spread, setSpread] = useState(textOf(last?.spread));
  const [begin, setBegin] = useState<(() => void) | null>(null);
  const wrong = {
    workers: complaintOf(workers, 5, 1000, { whole: true, needed: true }),
    planned: complaintOf(planned, 2, 100_000, { whole: true }),
    pay: complaintOf(pay, 0, 1_000_000),
    fee: complaintOf(fee, 0, 1000, { needed: true }),
    spread: complaintOf(spread, 0, 1),
  };
  const ready = Object.values(wrong).every((complaint) => complaint === undefined);
  const body = () => ({
    workers: numberIn(workers),
    planned: numberIn(planned),
    pay: numberIn(pay),
    fee: (numberIn(fee) ?? 0) / 100,
    spread: numberIn(spread),
  });
  return (
    <JobForm
      address={apiAddress("/api/desk/runs/{run}/rehearsals", { run })}
      body={body}
      ready={ready}
      button="Rehearse"
      onAsk={(begin) => setBegin(() => begin)}
    >
      {begin && (
        <RehearsalCalls
          path="/api/desk/runs/{run}/rehearsal-plan"
          values={{ run }}
          workers={numberIn(workers) ?? 40}
          onBegin={begin}
          onClose={() => setBegin(null)}
        />
      )}
      <p class="soft">
        Simulated workers take part in a separate run of this study and chat with its bots. You get a forecast
        of duration, cost and precision before you pay anybody. Simulated ratings say nothing about the
        systems, and are kept apart from all other data.
      </p>
      <div class="job-fields">
        <NumberField
          id="workers"
          label="Simulated workers"
          hint="More workers make the forecast more precise, but take longer."
          value={workers}
          onValue={setWorkers}
          complaint={wrong.workers}
        />
        <NumberField
          id="planned"
          label="Planned number of workers"
          hint="If empty, the study’s number of workers, or the simulated number."
          value={planned}
          onValue={setPlanned}
          complaint={wrong.planned}
        />
        <NumberField
          id="spread"
          label="Difference between best and worst system"
          hint="From 0 (equal) to 1. If empty, as set in the study, or 0.2."
          value={spread}
          onValue={setSpread}
          complaint={wrong.spread}
        />
        <NumberField
          id="pay"
          label="Pay per assignment"
          hint="In your currency. Leave empty to forecast no cost."
          value={pay}
          onValue={setPay}
          complaint={wrong.pay}
        />
        <NumberField
          id="fee"
          label="Platform fee (%)"
          hint="Added to the pay."
          value={fee}
          onValue={setFee}
          complaint={wrong.fee}
        />
      </div>
    </JobForm>
  );
}

function textOf(value: number | null | undefined): string {
  return value === null || value === undefined ? "" : String(value);
}

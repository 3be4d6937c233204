import { useState } from "preact/hooks";
import type { RehearsalJob, RehearsalList } from "../api_types";
import { useFetched } from "../fetched";
import { when } from "../format";
import { JobProgress, JobStatus } from "../jobs/JobProgress";
import { percent } from "../jobs/numbers";
import { Link } from "../Link";
import { LoadStatus } from "../LoadStatus";
import { newestOf, usePushed } from "../pushed";
import { ForecastView } from "./ForecastView";
import { RehearsalForm } from "./RehearsalForm";

/** The share of honest workers where none is given. */
const USUALLY_HONEST = 0.75;

/** Rehearsals of the study that a run is of: one is held, and what it foretells is read here. */
export function RehearsalView({ run }: { run: string }) {
  const { data, failure } = usePushed(
    "/api/desk/watch/runs/{run}/rehearsals",
    { run },
    newestOf<RehearsalList>,
  );
  const [chosen, setChosen] = useState<string | null>(null);
  const rehearsals = data?.rehearsals ?? [];
  const underWay = rehearsals.find(({ status }) => status === "running");
  const done = rehearsals.filter(({ forecast }) => forecast !== null);
  const shown = done.find(({ job }) => job === chosen) ?? done[0];
  const newest = rehearsals[0];
  const { data: held } = useFetched("/api/desk/runs/{run}", { run }, run);
  return (
    <>
      <div>
        <h2>Rehearsal</h2>
        {held && (
          <p class="soft small">
            Of the study <Link to={{ page: "study", study: held.study }}>{held.study}</Link>
          </p>
        )}
      </div>
      <LoadStatus failure={failure} empty={data === null} />
      {data && (
        <>
          {underWay ? (
            <JobProgress job={underWay} what="The rehearsal" />
          ) : (
            <RehearsalForm run={run} last={newest?.options ?? null} />
          )}
          {newest?.status === "failed" && (
            <p class="failure" role="alert">
              The last rehearsal broke off: {newest.error}
            </p>
          )}
          {shown && <ForecastView rehearsal={shown} />}
          {rehearsals.length > 0 && (
            <Earlier rehearsals={rehearsals} shown={shown?.job ?? null} onShow={setChosen} />
          )}
        </>
      )}
    </>
  );
}

/** The share of the workers who rated honestly; unknown where a model of other workers decided it. */
function honesty({ options: { honest, model } }: RehearsalJob): string {
  const share = honest ?? (model ? null : USUALLY_HONEST);
  return share === null ? "" : `, ${percent(share)} of them honest`;
}

interface EarlierProps {
  rehearsals: RehearsalJob[];
  shown: string | null;
  onShow: (job: string) => void;
}

function Earlier({ rehearsals, shown, onShow }: EarlierProps) {
  return (
    <section aria-labelledby="earlier">
      <h2 id="earlier">All rehearsals of this study</h2>
      <ul class="job-list">
        {rehearsals.map((rehearsal) => (
          <li key={rehearsal.job}>
            <div>
              {rehearsal.forecast ? (
                <button
                  type="button"
                  class="link-button"
                  aria-pressed={rehearsal.job === shown}
                  onClick={() => onShow(rehearsal.job)}
                >
                  {when(rehearsal.created_at)}
                </button>
              ) : (
                when(rehearsal.created_at)
              )}
              <span class="soft small block">
                {rehearsal.options.workers} simulated workers{honesty(rehearsal)} ·{" "}
                <Link to={{ page: "run", run: rehearsal.run }}>{rehearsal.run}</Link>
              </span>
              {rehearsal.error && <span class="small block">{rehearsal.error}</span>}
            </div>
            <JobStatus job={rehearsal} />
          </li>
        ))}
      </ul>
    </section>
  );
}

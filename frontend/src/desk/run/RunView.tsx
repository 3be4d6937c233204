import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import type { Attention, RunDetail } from "../api_types";
import { CopyLink } from "../CopyLink";
import { when } from "../format";
import { Link } from "../Link";
import { LoadStatus } from "../LoadStatus";
import { useNow } from "../now";
import { Progress } from "../Progress";
import { WorkerIds } from "../people/WorkerIds";
import { usePushed } from "../pushed";
import { figuresOf, Simulated } from "../RunsView";
import { StatusHead } from "../Status";
import { AttentionStrip } from "./AttentionStrip";
import { Bots } from "./Bots";
import { changedRun } from "./changes";
import { Fold } from "./Fold";
import { Funnel } from "./Funnel";
import { Incidents } from "./Incidents";
import { Narrowing } from "./Narrowing";
import { RunControls } from "./RunControls";
import { Scores } from "./Scores";
import { Systems } from "./Systems";
import { Transcripts } from "./Transcripts";
import { type Shown, Workers } from "./Workers";

/** One run as it goes on: what needs attention, how far it is, who takes part, how the bots do. */
export function RunView({ run }: { run: string }) {
  const { data, failure } = usePushed("/api/desk/watch/runs/{run}", { run }, changedRun);
  return (
    <>
      {failure && !data && <h1>{run}</h1>}
      <LoadStatus failure={failure} empty={data === null} />
      {data && <Watched run={data} />}
    </>
  );
}

function Watched({ run }: { run: RunDetail }) {
  const now = useNow();
  const [shown, setShown] = useState<Shown>("all");
  const [forgotten, setForgotten] = useState(0);
  const people = run.workers.some((row) => !row.simulated);
  const show = (what: Shown) => {
    setShown(what);
    document.getElementById("workers")?.scrollIntoView({ behavior: "smooth" });
  };
  return (
    <>
      <StatusHead status={run.status}>
        <h1>{run.title}</h1>
        <p class="soft small">
          Run {run.run} of study <Link to={{ page: "study", study: run.study }}>{run.study}</Link>, opened{" "}
          {when(run.created_at)}
          {run.reason && ` · ${run.reason}`}
        </p>
        {run.limits.retention && <p class="soft small">{run.limits.retention}</p>}
      </StatusHead>
      <RunControls run={run} />
      <AttentionStrip items={run.attention}>
        {(item) => <ShowThem item={item} run={run.run} onShow={show} />}
      </AttentionStrip>
      <div class="box overview">
        <Progress run={run} />
        <dl class="figures">
          {figuresOf(run.assignments, run.conversations_rated).map(([name, count]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{count}</dd>
            </div>
          ))}
        </dl>
        <Simulated run={run} />
        <CopyLink of={run.run} link={run.worker_link} />
      </div>
      <Workers
        run={run.run}
        conversations={lastOf(run)}
        workers={run.workers}
        now={now}
        shown={shown}
        onShown={setShown}
      />
      <Fold title="Systems">
        <Systems systems={run.systems} simulated={run.simulated_systems} />
      </Fold>
      <Scores analysis={run.analysis} now={now} />
      <Fold title="How the intervals narrow">
        <Narrowing run={run.run} analysis={run.analysis} />
      </Fold>
      <Fold title="Drop-off by step">
        <Funnel
          steps={people ? run.funnel : run.simulated_funnel.length > 0 ? run.simulated_funnel : run.funnel}
        />
      </Fold>
      <Fold title="Bots">
        <Bots bots={run.bots} />
      </Fold>
      <Fold title="Transcripts">
        <Transcripts run={run} forgotten={forgotten} />
      </Fold>
      <Fold title="Incidents">
        <Incidents run={run.run} incidents={run.incidents} now={now} />
      </Fold>
      <WorkerIds run={run.run} onForgotten={() => setForgotten(forgotten + 1)} />
    </>
  );
}

/** How many conversations an assignment of the run has. */
function lastOf(run: RunDetail): number {
  return Math.max(0, ...run.funnel.map(({ position }) => position ?? 0));
}

/** A way from what needs attention to the workers that it is about. */
function ShowThem({ item, run, onShow }: { item: Attention; run: string; onShow: (shown: Shown) => void }) {
  const about = item.assignments ?? [];
  const { workers } = item;
  const [first] = about;
  if (first === undefined || !workers) {
    return null;
  }
  if (workers === "reported" || workers === "flagged") {
    // The next one comes up as this one is marked as seen.
    return <Link to={{ page: "assignment", run, assignment: first }}>Read</Link>;
  }
  return (
    <Button kind="quiet" onClick={() => onShow(workers)}>
      Show them
    </Button>
  );
}

import type { AssignmentCounts, RunSummary } from "./api_types";
import { CopyLink } from "./CopyLink";
import { ago, when } from "./format";
import { Link } from "./Link";
import { LoadStatus } from "./LoadStatus";
import { usePolled } from "./polled";
import { StatusHead } from "./Status";

/** Every run, newest first as the server lists them. */
export function RunsView() {
  const { data, failure } = usePolled("/api/desk/runs");
  return (
    <>
      <h1>Runs</h1>
      <LoadStatus failure={failure} empty={data === null} />
      {data?.runs.length === 0 && (
        <p class="soft">
          There is no run yet. Open one with <code>candor study open STUDY.yaml --run NAME</code>.
        </p>
      )}
      <ul class="runs">
        {data?.runs.map((run) => (
          <li key={run.run} class="box">
            <StatusHead status={run.status}>
              <h2>
                <Link to={{ page: "run", run: run.run }}>{run.title}</Link>
              </h2>
              <p class="soft small">
                {run.run} · study {run.study} · opened{" "}
                <span title={when(run.created_at)}>{ago(run.created_at)}</span>
              </p>
            </StatusHead>
            <Figures run={run} />
            <CopyLink label="Workers’ link" link={run.worker_link} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** A run in a few numbers: those of people, and apart from them those of simulated workers. */
export function Figures({ run }: { run: RunSummary }) {
  const figures = figuresOf(run.assignments, run.conversations_rated);
  const simulated = figuresOf(run.simulated, run.simulated_conversations_rated).filter(
    ([, count]) => count > 0,
  );
  return (
    <div>
      <dl class="figures">
        {figures.map(([name, count]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{count}</dd>
          </div>
        ))}
      </dl>
      {simulated.length > 0 && (
        <p class="soft small">
          <span class="tag">simulated</span>
          {simulated.map(([name, count]) => `${count} ${name}`).join(" · ")}
        </p>
      )}
    </div>
  );
}

function figuresOf(counts: AssignmentCounts, rated: number): [name: string, count: number][] {
  return [
    ["completed", counts.completed],
    ["under way", counts.active],
    ["returned", counts.returned],
    ["expired", counts.expired],
    ["conversations rated", rated],
  ];
}

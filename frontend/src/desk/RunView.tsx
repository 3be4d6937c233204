import type { AssignmentRow, SystemProgress } from "./api_types";
import { CopyLink } from "./CopyLink";
import { ago, latency, minutes, when } from "./format";
import { Link } from "./Link";
import { LoadStatus } from "./LoadStatus";
import { usePolled } from "./polled";
import { Figures } from "./RunsView";
import { Status, StatusHead } from "./Status";
import { type Column, Table } from "./Table";

/** One run: how far every system is, and who takes part. */
export function RunView({ run }: { run: string }) {
  const { data, failure } = usePolled("/api/desk/runs/{run}", { run });
  return (
    <>
      <LoadStatus failure={failure} empty={data === null} />
      {data && (
        <>
          <StatusHead status={data.status}>
            <h1>{data.title}</h1>
            <p class="soft small">
              Run {data.run} of study {data.study}, opened {when(data.created_at)}
            </p>
          </StatusHead>
          <Figures run={data} />
          <CopyLink label="Workers’ link" link={data.worker_link} />
          <Systems systems={data.systems} />
          <Workers run={run} workers={data.workers} />
        </>
      )}
    </>
  );
}

const PARTS = ["rated", "unrated", "active", "planned", "failed", "skipped"] as const;

function Systems({ systems }: { systems: SystemProgress[] }) {
  // Hardly ever is a conversation skipped: only when no chatbot was left to replace one that failed.
  const skipping = systems.some(({ skipped }) => skipped > 0);
  // Only a study with a `rate_share` leaves some unrated.
  const leaving = systems.some(({ unrated }) => unrated > 0);
  const parts = PARTS.filter((part) => (part !== "skipped" || skipping) && (part !== "unrated" || leaving));
  const most = Math.max(1, ...systems.map((system) => PARTS.reduce((sum, part) => sum + system[part], 0)));
  return (
    <section aria-labelledby="systems">
      <div class="section-head">
        <h2 id="systems">Systems</h2>
        <ul class="key" aria-hidden="true">
          {parts.map((part) => (
            <li key={part}>
              <span class={`swatch swatch-${part}`} />
              {part}
            </li>
          ))}
        </ul>
      </div>
      <Table
        label="Table of systems"
        columns={[
          { name: "System" },
          { name: "Conversations", kind: "wide" },
          { name: "Rated", kind: "number" },
          ...(leaving ? [{ name: "Unrated", kind: "number" } as const] : []),
          { name: "Active", kind: "number" },
          { name: "Planned", kind: "number" },
          { name: "Failed", kind: "number" },
          ...(skipping ? [{ name: "Skipped", kind: "number" } as const] : []),
          { name: "Inputs", kind: "number" },
          { name: "Median reply", kind: "number" },
        ]}
      >
        {systems.map((system) => (
          <tr key={system.system}>
            <th scope="row">
              {system.system}
              <span class="soft small block">{system.is_qc ? "quality control" : system.family}</span>
            </th>
            <td>
              <Bar system={system} most={most} />
            </td>
            <td class="number">{system.rated}</td>
            {leaving && <td class="number">{system.unrated}</td>}
            <td class="number">{system.active}</td>
            <td class="number">{system.planned}</td>
            <td class={system.failed > 0 ? "number poor" : "number"}>{system.failed}</td>
            {skipping && <td class="number">{system.skipped}</td>}
            <td class="number">{system.inputs}</td>
            <td class="number">{latency(system.median_latency_ms)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

function Bar({ system, most }: { system: SystemProgress; most: number }) {
  return (
    <div class="bars" aria-hidden="true">
      {PARTS.filter((part) => system[part] > 0).map((part) => (
        <span key={part} class={`swatch-${part}`} style={{ width: `${(100 * system[part]) / most}%` }} />
      ))}
    </div>
  );
}

const WORKER_COLUMNS: Column[] = [
  { name: "Worker" },
  { name: "Status" },
  { name: "Rated", kind: "number" },
  { name: "Inputs", kind: "number" },
  { name: "Started" },
  { name: "Last seen" },
  { name: "Took", kind: "number" },
  { name: "Code" },
];

function Workers({ run, workers }: { run: string; workers: AssignmentRow[] }) {
  return (
    <section aria-labelledby="workers">
      <div class="section-head">
        <h2 id="workers">Workers</h2>
        <p class="soft small">{workers.length === 1 ? "1 assignment" : `${workers.length} assignments`}</p>
      </div>
      {workers.length === 0 ? (
        <p class="soft">Nobody yet. Open the workers’ link to be the first.</p>
      ) : (
        <Table label="Table of workers" columns={WORKER_COLUMNS}>
          {workers.map((row) => (
            <tr key={row.assignment}>
              <th scope="row">
                <Link to={{ page: "assignment", run, assignment: row.assignment }}>{row.worker}</Link>
                {row.simulated && <span class="tag">simulated</span>}
              </th>
              <td>
                <Status status={row.status} />
              </td>
              <td class="number">{row.conversations_rated}</td>
              <td class="number">{row.inputs}</td>
              <td title={when(row.started_at)}>{ago(row.started_at)}</td>
              <td title={when(row.active_at)}>{ago(row.active_at)}</td>
              <td class="number">{minutes(row.started_at, row.ended_at)}</td>
              <td class="code-cell">{row.completion_code ?? "–"}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}

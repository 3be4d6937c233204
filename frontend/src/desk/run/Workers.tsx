import { Users } from "lucide";
import { useContext, useId, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Empty } from "../../design/Empty";
import { useSorting } from "../../design/sorting";
import { type Column, Table } from "../../design/Table";
import { Time } from "../../design/Time";
import type { AssignmentRow, RunDetail } from "../api_types";
import { ago, capitalised, lasting, minutes, moment, when } from "../format";
import { Link } from "../Link";
import { useNarrow } from "../narrow";
import { phaseName } from "../phases";
import { GoContext } from "../route";
import { Status } from "../Status";
import { WorkerActions } from "./WorkerActions";

/** So many stand on a page, so that it stays quick however many there are; and fewer on a phone. */
const ON_A_PAGE = 25;
const ON_A_PHONE = 8;

const COLUMNS: Column[] = [
  { name: "Worker", sort: "worker" },
  { name: "Status", sort: "status" },
  { name: "Step" },
  { name: "Messages", kind: "number", sort: "inputs", onlyWide: true },
  { name: "Page", onlyWide: true },
  { name: "Last seen", sort: "heard" },
  { name: "Time", kind: "number", onlyWide: true },
  { name: "Rated", kind: "number", sort: "rated", onlyWide: true },
];
const KEYS = {
  worker: (row: AssignmentRow) => row.worker,
  status: (row: AssignmentRow) => row.status,
  inputs: (row: AssignmentRow) => row.inputs,
  heard: (row: AssignmentRow) => row.active_at,
  rated: (row: AssignmentRow) => row.conversations_rated,
  p: (row: AssignmentRow) => row.p,
};
const LAST: Column[] = [{ name: "Actions" }];

const SHOWN = {
  all: { name: "All workers", holds: () => true },
  active: { name: "In progress", holds: (row: AssignmentRow) => row.status === "active" },
  waiting: { name: "Waiting for a failing bot", holds: (row: AssignmentRow) => row.failed_tries > 0 },
  away: {
    name: "In progress, page closed",
    holds: (row: AssignmentRow) => row.status === "active" && row.away_since !== null,
  },
  completed: { name: "Submitted", holds: (row: AssignmentRow) => row.status === "completed" },
  lost: {
    name: "Returned or expired",
    holds: (row: AssignmentRow) => row.status === "returned" || row.status === "expired",
  },
};
type Shown = keyof typeof SHOWN;

interface Props {
  run: RunDetail;
  now: Date;
  /** Which of them the address names; all where it names none. */
  shown: string | undefined;
}

/** Who takes part, page by page, and where each is. */
export function Workers({ run: { run, workers, funnel }, now, shown: named }: Props) {
  const go = useContext(GoContext);
  const shown: Shown = named !== undefined && isShown(named) ? named : "all";
  const conversations = Math.max(0, ...funnel.map(({ position }) => position ?? 0));
  const [search, setSearch] = useState("");
  const [page, setPage] = useState(0);
  const searchId = useId();
  const shownId = useId();
  const wanted = search.trim().toLowerCase();
  const { rows: found, sorting } = useSorting(
    workers.filter(
      (row) => SHOWN[shown].holds(row) && (wanted === "" || row.worker.toLowerCase().includes(wanted)),
    ),
    KEYS,
  );
  // Nothing is rated at first, and where a platform pays by a link nobody has a code.
  const withP = workers.some(({ p }) => p !== null);
  const withCode = workers.some((row) => row.completion_code !== null);
  const columns: Column[] = [
    ...COLUMNS,
    ...(withP ? [{ name: "QC p-value (interim)", kind: "number", sort: "p" } as const] : []),
    ...(withCode ? [{ name: "Code", onlyWide: true }] : []),
    ...LAST,
  ];
  const onPage = useNarrow() ? ON_A_PHONE : ON_A_PAGE;
  const pages = Math.max(1, Math.ceil(found.length / onPage));
  const at = Math.min(page, pages - 1);
  return (
    <section class="workers" aria-labelledby="workers">
      <div class="section-head">
        <h2 id="workers">Workers</h2>
        <p class="soft small">{workers.length === 1 ? "1 assignment" : `${workers.length} assignments`}</p>
      </div>
      {workers.length === 0 ? (
        <Empty icon={Users} title="No workers yet.">
          <p>
            The <Link to={{ page: "run", run }}>overview</Link> says how to bring them in.
          </p>
        </Empty>
      ) : (
        <>
          <div class="filters">
            <label class="unseen" for={shownId}>
              Show
            </label>
            <select
              id={shownId}
              class="input"
              value={shown}
              onChange={(event) => {
                const wanted = event.currentTarget.value;
                go({ page: "workers", run, ...(wanted === "all" ? {} : { shown: wanted }) });
                setPage(0);
              }}
            >
              {Object.entries(SHOWN).map(([key, { name, holds }]) => (
                <option key={key} value={key}>
                  {name} ({workers.filter(holds).length})
                </option>
              ))}
            </select>
            <label class="unseen" for={searchId}>
              Find a pseudonym
            </label>
            <input
              id={searchId}
              class="input"
              type="search"
              placeholder="Find a pseudonym"
              value={search}
              onInput={(event) => {
                setSearch(event.currentTarget.value);
                setPage(0);
              }}
            />
          </div>
          {found.length === 0 ? (
            <p class="soft">No workers match this filter.</p>
          ) : (
            <Table label="Table of workers" columns={columns} sorting={sorting} cards>
              {found.slice(at * onPage, (at + 1) * onPage).map((row) => (
                <Worker key={row.assignment} {...{ run, row, conversations, now, withP, withCode }} />
              ))}
            </Table>
          )}
          {pages > 1 && <Pages at={at} pages={pages} onPage={setPage} />}
          {withP && (
            <p class="soft small">
              The interim QC p-value is computed from what a worker has rated so far, and changes with every
              rating. The report says who passes.
            </p>
          )}
        </>
      )}
    </section>
  );
}

function isShown(name: string): name is Shown {
  return name in SHOWN;
}

interface RowProps {
  run: string;
  row: AssignmentRow;
  conversations: number;
  now: Date;
  withP: boolean;
  withCode: boolean;
}

function Worker({ run, row, conversations, now, withP, withCode }: RowProps) {
  const end = row.ended_at ?? now.toISOString();
  return (
    <tr>
      <th scope="row">
        <Link to={{ page: "assignment", run, assignment: row.assignment }}>{row.worker}</Link>
        {row.simulated && <span class="tag">simulated</span>}
        {row.excluded && <span class="tag">excluded</span>}
      </th>
      <td data-name="Status">
        <Status status={row.status} />
      </td>
      <td data-name="Step" class="wrap">
        {capitalised(whereOf(row, conversations))}
        {row.failed_tries > 0 && (
          <span class="poor small block">
            waits: {row.failed_tries === 1 ? "1 try" : `${row.failed_tries} tries`} failed
          </span>
        )}
      </td>
      <td data-name="Messages" class="number only-wide">
        {row.inputs}
      </td>
      <td data-name="Page" class="only-wide" title={when(row.away_since)}>
        {row.status !== "active" ? "–" : row.away_since ? `closed ${lasting(row.away_since, now)}` : "open"}
      </td>
      <td data-name="Last seen">
        {row.active_at ? <Time at={moment(row.active_at)} words={ago(row.active_at, now)} /> : "–"}
      </td>
      <td data-name="Time" class="number only-wide" title={`since ${when(row.started_at)}`}>
        {row.started_at ? minutes(row.started_at, end) : "–"}
      </td>
      <td data-name="Rated" class="number only-wide">
        {row.conversations_rated}
      </td>
      {withP && (
        <td data-name="QC p-value (interim)" class="number">
          {row.p === null ? "–" : row.p < 0.001 ? "< 0.001" : row.p.toFixed(3)}
        </td>
      )}
      {withCode && (
        <td data-name="Code" class="code-cell only-wide">
          {row.completion_code ?? "–"}
        </td>
      )}
      <td>
        <WorkerActions row={row} inRow />
      </td>
    </tr>
  );
}

/** Where a worker is, or was at the end: "chat, 3 of 6". */
function whereOf({ step, position, system, inputs_here }: AssignmentRow, conversations: number): string {
  if (position === null) {
    return phaseName(step);
  }
  const where = `${phaseName(step)}, ${position} of ${conversations}`;
  return step === "chat"
    ? `${where}, ${inputs_here} ${inputs_here === 1 ? "message" : "messages"} · ${system}`
    : `${where} · ${system}`;
}

function Pages({ at, pages, onPage }: { at: number; pages: number; onPage: (page: number) => void }) {
  return (
    <nav class="pages" aria-label="Pages of workers">
      <Button kind="secondary" off={at === 0} onClick={() => onPage(at - 1)}>
        Newer
      </Button>
      <span class="small">
        Page {at + 1} of {pages}
      </span>
      <Button kind="secondary" off={at === pages - 1} onClick={() => onPage(at + 1)}>
        Older
      </Button>
    </nav>
  );
}

import { Play } from "lucide";
import { useContext, useState } from "preact/hooks";
import { Button } from "../design/Button";
import { Empty } from "../design/Empty";
import { useSorting } from "../design/sorting";
import { Table } from "../design/Table";
import { Time } from "../design/Time";
import { AccountContext, may } from "./account";
import type { AssignmentCounts, RunSummary } from "./api_types";
import { CopyLink } from "./CopyLink";
import { ago, moment } from "./format";
import { Link } from "./Link";
import { LoadStatus } from "./LoadStatus";
import { useNow } from "./now";
import { Progress } from "./Progress";
import { usePushed } from "./pushed";
import { AttentionStrip } from "./run/AttentionStrip";
import { changedList } from "./run/changes";
import { Status } from "./Status";
import { NewStudy } from "./studies/NewStudy";

const COLUMNS = [
  { name: "Run", sort: "title" },
  { name: "Status", sort: "status" },
  { name: "Progress", kind: "wide" },
  { name: "Rated", kind: "number", sort: "rated", onlyWide: true },
  { name: "Opened", sort: "opened" },
  { name: "Workers’ link" },
] as const;
const KEYS = {
  title: (run: RunSummary) => run.title,
  status: (run: RunSummary) => run.status,
  rated: (run: RunSummary) => run.conversations_rated,
  opened: (run: RunSummary) => run.created_at,
};

/** Every run, newest first as the server lists them. */
export function RunsView() {
  const { data, failure } = usePushed("/api/desk/watch/runs", {}, changedList);
  const now = useNow();
  const [adding, setAdding] = useState(false);
  const mayAdd = may(useContext(AccountContext), "change_studies");
  const { rows, sorting } = useSorting(data ?? [], KEYS);
  return (
    <>
      <div class="run-head">
        <h1>Runs</h1>
        {mayAdd && <Button onClick={() => setAdding(true)}>New study</Button>}
      </div>
      <LoadStatus failure={failure} empty={data === null} />
      {data && <AttentionStrip items={data.flatMap(attentionOf)} />}
      {data?.length === 0 && (
        <Empty icon={Play} title="There is no run yet.">
          <p>
            Open one from a <Link to={{ page: "studies" }}>study</Link>, or with{" "}
            <code>candor study open STUDY.yaml --run NAME</code>.
          </p>
        </Empty>
      )}
      {data && data.length > 0 && (
        <Table label="Table of runs" columns={COLUMNS} sorting={sorting} cards>
          {rows.map((run) => (
            <tr key={run.run}>
              <th scope="row" class="run-name">
                <Link to={{ page: "run", run: run.run }}>{run.title}</Link>
                <span class="soft small block">
                  {run.run} · study {run.study}
                </span>
              </th>
              <td data-name="Status">
                <Status status={run.status} />
              </td>
              <td data-name="Progress" class="wide">
                <Progress run={run} brief />
                <Simulated run={run} />
              </td>
              <td data-name="Rated" class="number only-wide">
                {run.conversations_rated}
              </td>
              <td data-name="Opened">
                <Time at={moment(run.created_at)} words={ago(run.created_at, now)} />
              </td>
              <td data-name="Workers’ link">
                <CopyLink of={run.run} link={run.worker_link} short />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {adding && <NewStudy onClose={() => setAdding(false)} />}
    </>
  );
}

function attentionOf(run: RunSummary) {
  const { waiting, title } = run;
  const who = waiting === 1 ? "1 worker waits" : `${waiting} workers wait`;
  return waiting === 0
    ? []
    : [{ urgent: true, text: `${who} for a bot that does not answer: ${title}.`, run: run.run }];
}

/** What simulated workers have done in a run, apart from people; nothing where there are none. */
export function Simulated({ run }: { run: RunSummary }) {
  const counts = figuresOf(run.simulated, run.simulated_conversations_rated).filter(([, count]) => count > 0);
  return (
    counts.length > 0 && (
      <p class="soft small simulated">
        <span class="tag">simulated</span>
        {counts.map(([name, count]) => `${count} ${name}`).join(" · ")}
      </p>
    )
  );
}

/** How many assignments stand where, by name, and how many conversations are rated. */
export function figuresOf(counts: AssignmentCounts, rated: number): [name: string, count: number][] {
  return [
    ["submitted", counts.completed],
    ["in progress", counts.active],
    ["returned", counts.returned],
    ["expired", counts.expired],
    ["conversations rated", rated],
  ];
}

import { SearchX } from "lucide";
import { useContext, useState } from "preact/hooks";
import { Empty } from "../../design/Empty";
import type { AssignmentDetail, RunDetail } from "../api_types";
import { useFetched } from "../fetched";
import { useKeys, useSingleKeys } from "../keys";
import { Link } from "../Link";
import { LoadStatus } from "../LoadStatus";
import { GoContext, type Route, type RunRoute } from "../route";
import { WorkerActions } from "../run/WorkerActions";
import { Status } from "../Status";
import { Answers } from "./Answers";
import { Conversation, systemOf } from "./Conversation";
import { Pair } from "./Pair";
import { firstToRead, isCalled, type Part, partsOf } from "./parts";
import { Writing } from "./Writing";
import "./assignment.css";

interface Props {
  run: RunDetail;
  route: Extract<RunRoute, { page: "assignment" }>;
}

/** One assignment as it goes on, a conversation at a time, with a way to the next one and to the next worker. */
export function AssignmentView({ run, route: { assignment, part } }: Props) {
  const row = run.workers.find((other) => other.assignment === assignment);
  const { data, failure, missing } = useFetched("/api/desk/assignments/{assignment}", { assignment }, row);
  if (missing) {
    return (
      <Empty icon={SearchX} title="Assignment not found.">
        <p>
          This run has no assignment <code>{assignment}</code>.{" "}
          <Link to={{ page: "workers", run: run.run }}>Go to the workers</Link>
        </p>
      </Empty>
    );
  }
  return (
    <>
      {failure && !data && <h2>{assignment}</h2>}
      <LoadStatus failure={failure} empty={data === null} />
      {data && <Reader run={run} assignment={data} named={part} />}
    </>
  );
}

interface ReaderProps {
  run: RunDetail;
  assignment: AssignmentDetail;
  /** What of it the address names. */
  named: string | undefined;
}

function Reader({ run, assignment, named }: ReaderProps) {
  const go = useContext(GoContext);
  const parts = partsOf(assignment);
  // Chosen once: what is read does not change under its reader as the worker goes on.
  const [first] = useState(() => firstToRead(parts));
  const wanted = named ?? first;
  const at = Math.max(
    0,
    parts.findIndex((each) => isCalled(each, wanted)),
  );
  const shown = parts[at];
  const index = run.workers.findIndex((other) => other.assignment === assignment.assignment);
  const row = run.workers[index];
  const to = (of: string | undefined, part?: string): Route | null =>
    of === undefined ? null : { page: "assignment", run: run.run, assignment: of, ...(part ? { part } : {}) };
  const next = to(run.workers[index + 1]?.assignment);
  const previous = to(run.workers[index - 1]?.assignment);
  const step = (by: number) => {
    const other = parts[at + by];
    const target = other ? to(assignment.assignment, other.id) : by > 0 ? next : previous;
    target && go(target);
  };
  const keys = useSingleKeys();
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    n: () => next && go(next),
    p: () => previous && go(previous),
  });
  return (
    <>
      <div class="run-head reader-head">
        <div>
          <div class="run-title">
            <h2>
              {assignment.worker}
              {assignment.simulated && <span class="tag">simulated</span>}
            </h2>
            <Status status={assignment.status} />
          </div>
          <p class="soft small">
            Worker {index + 1} of {run.workers.length} · Assignment {assignment.assignment}
          </p>
        </div>
        <div class="run-actions">
          <nav aria-label="Workers" class="reader-workers">
            {previous ? (
              <Link to={previous}>Previous worker</Link>
            ) : (
              <span class="soft">Previous worker</span>
            )}
            {next ? <Link to={next}>Next worker</Link> : <span class="soft">Next worker</span>}
          </nav>
          {row && <WorkerActions row={row} />}
        </div>
      </div>
      {row?.excluded && <p class="failure">Excluded from every analysis: {row.excluded}</p>}
      <div class="reader">
        <nav aria-label="Conversations" class="reader-list">
          <ol>
            {parts.map((each) => (
              <li key={each.id}>
                <Link
                  to={{
                    page: "assignment",
                    run: run.run,
                    assignment: assignment.assignment,
                    part: each.id,
                  }}
                  here={each.id === shown?.id ? "page" : undefined}
                >
                  <span>{nameOf(each)}</span>
                  {each.kind === "conversations" && <Status status={each.records[0].status} />}
                </Link>
              </li>
            ))}
          </ol>
          {keys.on && (
            <div class="soft small keys">
              <p>
                <kbd>j</kbd> next <kbd>k</kbd> previous
              </p>
              <p>
                <kbd>n</kbd> next worker <kbd>p</kbd> previous
              </p>
            </div>
          )}
        </nav>
        {shown && <Shown part={shown} assignment={assignment} key={shown.id} />}
      </div>
    </>
  );
}

function nameOf(part: Part): string {
  switch (part.kind) {
    case "conversations": {
      const names = part.records.map(systemOf).join(" and ");
      const [{ number, attempt }] = part.records;
      return `${number}. ${names}${attempt > 1 ? ` (attempt ${attempt})` : ""}`;
    }
    case "answers":
      return "Answers and writing";
  }
}

function Shown({ part, assignment }: { part: Part; assignment: AssignmentDetail }) {
  switch (part.kind) {
    case "conversations":
      return part.records.length === 2 ? (
        <Pair records={part.records} assignment={assignment.assignment} />
      ) : (
        <Conversation record={part.records[0]} assignment={assignment.assignment} />
      );
    case "answers":
      return (
        <div class="reader-answers">
          <Answers title="Questionnaire before" answers={assignment.before} />
          <Answers title="Questionnaire after" answers={assignment.after} />
          {assignment.feedback && (
            <section class="box" aria-labelledby="feedback">
              <h2 id="feedback">Feedback</h2>
              <p class="said">{assignment.feedback}</p>
            </section>
          )}
          <Writing writing={assignment.writing} />
        </div>
      );
  }
}

import { Send } from "lucide";
import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { Empty } from "../../design/Empty";
import { AccountContext, may } from "../account";
import type { Attention, RunDetail } from "../api_types";
import { CopyLink } from "../CopyLink";
import { Link } from "../Link";
import { isBounded, Progress, progressOf } from "../Progress";
import { figuresOf, Simulated } from "../RunsView";
import { AttentionStrip } from "./AttentionStrip";
import { Fold } from "./Fold";
import { Funnel } from "./Funnel";
import { Narrowing } from "./Narrowing";
import { Scores } from "./Scores";
import { Systems } from "./Systems";

/** How a run goes: what needs the researcher, how far it is, its slots and scores, and where workers drop off. */
export function Overview({ run, now }: { run: RunDetail; now: Date }) {
  const people = run.workers.some((row) => !row.simulated);
  return (
    <>
      {run.attention.length + run.workers.length > 0 && (
        <AttentionStrip items={run.attention}>
          {(item) => <ShowThem item={item} run={run.run} />}
        </AttentionStrip>
      )}
      {run.workers.length === 0 ? (
        <NobodyYet run={run} />
      ) : (
        <>
          <div class="box overview">
            <Progress run={run} />
            {people && (
              <dl class="figures">
                {figuresOf(run.assignments, run.conversations_rated).map(([name, count]) => (
                  <div key={name}>
                    <dt>{name}</dt>
                    <dd>{count}</dd>
                  </div>
                ))}
              </dl>
            )}
            <Simulated run={run} />
          </div>
          <Scores analysis={run.analysis} people={people} now={now} />
          <Fold title="Systems">
            <Systems systems={run.systems} simulated={run.simulated_systems} />
          </Fold>
          <Fold title="Drop-off by step">
            <Funnel steps={people || run.simulated_funnel.length === 0 ? run.funnel : run.simulated_funnel} />
          </Fold>
          <Fold title="How the intervals narrow">
            <Narrowing run={run.run} analysis={run.analysis} />
          </Fold>
        </>
      )}
    </>
  );
}

/** A run that nobody has come to: what to do next, in place of tables of zeros. */
function NobodyYet({ run }: { run: RunDetail }) {
  const account = useContext(AccountContext);
  return (
    <Empty icon={Send} title="No workers yet.">
      <p>
        {run.status === "open"
          ? "Send workers this link to start."
          : `The run is ${run.status}. Resume it before workers come.`}
      </p>
      <CopyLink of={run.run} link={run.worker_link} />
      {isBounded(run) && <p>{progressOf(run)}</p>}
      <ul class="next-steps">
        <Step title="Take part yourself">
          <a href={run.worker_link} target="_blank" rel="noreferrer">
            Open the workers’ page
          </a>{" "}
          to see what they will see.
        </Step>
        {may(account, "rehearse") && (
          <Step title="Rehearse">
            <Link to={{ page: "rehearsal", run: run.run }}>Let simulated workers try it</Link>, and forecast
            the results.
          </Step>
        )}
        {may(account, "act_on_workers") && (
          <Step title="Recruit">
            <Link to={{ page: "recruiting", run: run.run }}>Bring in workers</Link> from a platform, or by
            personal links.
          </Step>
        )}
      </ul>
    </Empty>
  );
}

function Step({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <li class="next-step">
      <strong>{title}</strong>
      <span>{children}</span>
    </li>
  );
}

/** A way from what needs attention to the workers that it is about. */
function ShowThem({ item, run }: { item: Attention; run: string }) {
  const about = item.assignments ?? [];
  const { workers } = item;
  const [first] = about;
  if (first === undefined || !workers) {
    return null;
  }
  switch (workers) {
    case "reported":
    case "flagged":
      // The next one comes up as this one is marked as seen.
      return <Link to={{ page: "assignment", run, assignment: first }}>Read</Link>;
    case "waiting":
    case "away":
      return <Link to={{ page: "workers", run, shown: workers }}>Show them</Link>;
  }
}

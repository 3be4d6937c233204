import { useContext } from "preact/hooks";
import { Tabs } from "../../design/Tabs";
import { AccountContext, may, type Permission } from "../account";
import type { Account, RunDetail } from "../api_types";
import { AssignmentView } from "../assignment/AssignmentView";
import { LoadStatus } from "../LoadStatus";
import { NotFound } from "../NotFound";
import { useNow } from "../now";
import { usePushed } from "../pushed";
import { RecruitingView } from "../recruiting/RecruitingView";
import { RehearsalView } from "../rehearsal/RehearsalView";
import { ReportOrRehearsal, ReportView } from "../report/ReportView";
import { addressOf, GoContext, RUN_TABS, type RunRoute, type RunTab } from "../route";
import { WizardView } from "../wizard/WizardView";
import { Bots } from "./Bots";
import { changedRun } from "./changes";
import { Incidents } from "./Incidents";
import { Overview } from "./Overview";
import { RunHead } from "./RunHead";
import { Settings } from "./Settings";
import { Transcripts } from "./Transcripts";
import { Workers } from "./Workers";

const NAMES: Record<RunTab, string> = {
  run: "Overview",
  workers: "Workers",
  transcripts: "Transcripts",
  bots: "Bots",
  report: "Report",
  recruiting: "Recruiting",
  settings: "Settings",
};
const NEEDED: Partial<Record<RunTab, Permission>> = {
  transcripts: "read_transcripts",
  report: "analyse",
  recruiting: "act_on_workers",
};

/** One run as it goes on: its head, its tabs, and the page that was asked for. One stream serves all of them. */
export function RunView({ route }: { route: RunRoute }) {
  const { run } = route;
  const account = useContext(AccountContext);
  const go = useContext(GoContext);
  const { data, failure, missing } = usePushed("/api/desk/watch/runs/{run}", { run }, changedRun);
  if (missing) {
    return (
      <NotFound title="Run not found" back={{ page: "runs" }} backTo="Go to the runs">
        There is no run called <code>{run}</code>. Check the address, or start from the list of runs.
      </NotFound>
    );
  }
  if (data === null) {
    return (
      <>
        <h1 class={failure ? undefined : "unseen"}>{run}</h1>
        <LoadStatus failure={failure} empty />
      </>
    );
  }
  const now = tabOf(route);
  const tabs = RUN_TABS.filter((tab) => tab === now || maySee(account, tab));
  return (
    <div class="run-page">
      <RunHead run={data} />
      <LoadStatus failure={failure} empty={false} />
      <Tabs
        label="Parts of this run"
        tabs={tabs.map((tab) => ({ tab, name: NAMES[tab], ...countOf(tab, data) }))}
        now={now}
        addressOf={(tab) => addressOf({ page: tab, run })}
        onChoose={(tab) => go({ page: tab, run })}
      >
        <Chosen route={route} run={data} />
      </Tabs>
    </div>
  );
}

function Chosen({ route, run }: { route: RunRoute; run: RunDetail }) {
  const now = useNow();
  switch (route.page) {
    case "run":
      return <Overview run={run} now={now} />;
    case "workers":
      return <Workers run={run} shown={route.shown} now={now} />;
    case "transcripts":
      return <Transcripts run={run} />;
    case "bots":
      return (
        <>
          <Bots bots={run.bots} />
          <Incidents run={run.run} incidents={run.incidents} now={now} />
        </>
      );
    case "report":
      return <ReportView run={run.run} started={run.workers.length > 0} />;
    case "recruiting":
      return <RecruitingView run={run.run} />;
    case "settings":
      return <Settings run={run} />;
    case "rehearsal":
      return (
        <>
          <ReportOrRehearsal run={run.run} now="rehearsal" />
          <RehearsalView run={run.run} />
        </>
      );
    case "wizard":
      return <WizardView run={run.run} />;
    case "assignment":
      return <AssignmentView key={route.assignment} run={run} route={route} />;
  }
}

/** The tab that a page belongs to. */
function tabOf(route: RunRoute): RunTab {
  switch (route.page) {
    case "rehearsal":
      return "report";
    case "wizard":
      return "bots";
    case "assignment":
      return "transcripts";
    default:
      return route.page;
  }
}

function maySee(account: Account | null, tab: RunTab): boolean {
  const needed = NEEDED[tab];
  return needed === undefined || may(account, needed);
}

function countOf(tab: RunTab, { workers }: RunDetail): { count?: number } {
  return tab === "workers" && workers.length > 0 ? { count: workers.length } : {};
}

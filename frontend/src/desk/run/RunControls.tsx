import { useContext, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { AccountContext, may } from "../account";
import { apiAddress } from "../api";
import type { RunDetail } from "../api_types";
import { Link } from "../Link";
import { RulesControl } from "../rules/RulesControl";
import { type Action, ActionDialog } from "./ActionDialog";

/** The bot for which researchers answer here. */
const WIZARD = "human:wizard";

/** What can be done about a run now, and where more of it is shown. */
export function RunControls({ run }: { run: RunDetail }) {
  const account = useContext(AccountContext);
  const [chosen, setChosen] = useState<Action | null>(null);
  return (
    <div class="actions">
      {actionsOf(run).map((action) => (
        <Button key={action.name} kind="secondary" onClick={() => setChosen(action)}>
          {action.name}
        </Button>
      ))}
      <RulesControl run={run} />
      <Link to={{ page: "report", run: run.run }}>Report</Link>
      <Link to={{ page: "rehearsal", run: run.run }}>Rehearsal</Link>
      {may(account, "export") && <Link to={{ page: "export", run: run.run }}>Export</Link>}
      {may(account, "act_on_workers") && <Link to={{ page: "recruiting", run: run.run }}>Recruiting</Link>}
      {run.bots.some(({ bot }) => bot === WIZARD) && (
        <Link to={{ page: "wizard", run: run.run }}>Answer as a chatbot</Link>
      )}
      {chosen && (
        <ActionDialog title={`${chosen.name}: ${run.run}`} action={chosen} onClose={() => setChosen(null)} />
      )}
    </div>
  );
}

function actionsOf(run: RunDetail): Action[] {
  const at = (path: string) => apiAddress(`/api/desk/runs/{run}/${path}`, { run: run.run });
  const why = { field: "reason", label: "Why (for this desk; workers never see it)", needed: false };
  const pause: Action = {
    name: "Pause",
    about: "Nobody new gets in until you resume. Those who are under way can finish.",
    method: "POST",
    address: at("pause"),
    words: why,
  };
  const resume: Action = {
    name: "Resume",
    about: "Workers get in again.",
    method: "POST",
    address: at("resume"),
    words: why,
  };
  const close: Action = {
    name: "Close",
    about: "The run ends: nobody new gets in, those who are under way can finish. You can resume it later.",
    method: "POST",
    address: at("close"),
    words: why,
  };
  const message: Action = {
    name: "Message to all",
    about: "It is shown to every worker who is under way, until they put it away.",
    method: "POST",
    address: at("message"),
    words: { field: "text", label: "Message to the workers", needed: true },
  };
  const underWay = run.assignments.active + run.simulated.active > 0 ? [message] : [];
  switch (run.status) {
    case "open":
      return [pause, close, ...underWay];
    case "paused":
      return [resume, close, ...underWay];
    default:
      return [resume, ...underWay];
  }
}

import { Bot, ChartLine, Copy, FlaskConical, MessageSquare, Pause, Play, Square, UserPlus } from "lucide";
import { useContext } from "preact/hooks";
import { Button } from "../../design/Button";
import { Icon } from "../../design/Icon";
import { Menu, type MenuItem } from "../../design/Menu";
import { Time } from "../../design/Time";
import { toast } from "../../design/Toast";
import { copyText } from "../../shared/browser";
import { AccountContext, may } from "../account";
import type { RunDetail } from "../api_types";
import { moment } from "../format";
import { Link } from "../Link";
import { GoContext } from "../route";
import { Status } from "../Status";
import { type Action, useActionDialog } from "./ActionDialog";
import { hasWizard, runActions } from "./actions";

/** What a run is called and how it stands, the one thing to do next, and a menu with the rest. */
export function RunHead({ run }: { run: RunDetail }) {
  const account = useContext(AccountContext);
  const go = useContext(GoContext);
  const { choose, dialog } = useActionDialog(({ name }) => `${name}: ${run.run}`);
  const { pause, resume, close, message } = runActions(run);
  const offered = (action: Action, icon: MenuItem["icon"]): MenuItem => ({
    name: action.name,
    ...(icon ? { icon } : {}),
    ...(action.danger ? { danger: true } : {}),
    onChoose: () => choose(action),
  });
  const mayChange = may(account, "change_runs");
  const inProgress = run.assignments.active + run.simulated.active > 0;
  const lead = leadOf(run, mayChange);
  const copy = async () =>
    (await copyText(run.worker_link, null))
      ? toast("Copied the workers’ link")
      : toast("This browser does not let the page copy. Copy the link under Settings.", { failed: true });
  const answer = () => go({ page: "wizard", run: run.run });
  const items: MenuItem[] = [
    ...(hasWizard(run) && lead !== "answer"
      ? [{ name: "Answer as a chatbot", icon: Bot, onChoose: answer }]
      : []),
    ...(lead === "copy" ? [] : [{ name: "Copy workers’ link", icon: Copy, onChoose: () => void copy() }]),
    {
      name: "Take part yourself",
      icon: UserPlus,
      onChoose: () => void window.open(run.worker_link, "_blank", "noreferrer"),
    },
    ...(may(account, "rehearse")
      ? [
          {
            name: "Rehearse",
            icon: FlaskConical,
            onChoose: () => go({ page: "rehearsal", run: run.run }),
          },
        ]
      : []),
    ...(inProgress && may(account, "act_on_workers") ? [offered(message, MessageSquare)] : []),
    ...(mayChange && run.status === "open" ? [offered(pause, Pause)] : []),
    ...(mayChange && run.status === "closed" ? [offered(resume, Play)] : []),
    ...(mayChange && run.status !== "closed" ? [offered(close, Square)] : []),
  ];
  return (
    <div class="run-head">
      <div>
        <div class="run-title">
          <h1>{run.title}</h1>
          <Status status={run.status} />
        </div>
        <p class="soft small">
          Run {run.run} of study <Link to={{ page: "study", study: run.study }}>{run.study}</Link>, opened{" "}
          <Time at={moment(run.created_at)} />
          {run.status !== "open" && run.reason && ` · ${run.reason}`}
        </p>
      </div>
      <div class="run-actions">
        {lead === "answer" && <Lead name="Answer as a chatbot" icon={Bot} onClick={answer} />}
        {lead === "resume" && <Lead name="Resume" icon={Play} onClick={() => choose(resume)} />}
        {lead === "report" && (
          <Lead name="Report" icon={ChartLine} onClick={() => go({ page: "report", run: run.run })} />
        )}
        {lead === "copy" && <Lead name="Copy workers’ link" icon={Copy} onClick={() => void copy()} />}
        <Menu label="More" items={items} />
      </div>
      {dialog}
    </div>
  );
}

/** What leads: to answer where people are the chatbot, to let workers in again, to read what came of it, or to call workers. */
function leadOf(run: RunDetail, mayChange: boolean): "answer" | "resume" | "report" | "copy" {
  switch (run.status) {
    case "open":
      return hasWizard(run) ? "answer" : "copy";
    case "paused":
      return mayChange ? "resume" : "report";
    case "closed":
      return "report";
  }
}

function Lead({ name, icon, onClick }: { name: string; icon: typeof Bot; onClick: () => void }) {
  return (
    <Button onClick={onClick}>
      <Icon of={icon} />
      {name}
    </Button>
  );
}

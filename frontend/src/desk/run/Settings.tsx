import type { ComponentChildren } from "preact";
import { useContext, useId } from "preact/hooks";
import { Button } from "../../design/Button";
import { toast } from "../../design/Toast";
import { AccountContext, may } from "../account";
import type { RunDetail } from "../api_types";
import { CopyLink } from "../CopyLink";
import { ExportView } from "../export/ExportView";
import { isBounded, progressOf } from "../Progress";
import { WorkerIds } from "../people/WorkerIds";
import { RulesControl } from "../rules/RulesControl";
import { useActionDialog } from "./ActionDialog";
import { runActions } from "./actions";

/** What a run goes by and what may be taken from it: rules, link, exports, retention, worker ids, and its end. */
export function Settings({ run }: { run: RunDetail }) {
  const account = useContext(AccountContext);
  return (
    <>
      <Part title="Rules">
        <div class="box setting">
          <p>
            {isBounded(run)
              ? progressOf(run)
              : "No target and no limits. The run is open until you close it."}
          </p>
          <div class="actions">
            <RulesControl run={run} />
          </div>
        </div>
      </Part>
      <Part title="Link and retention">
        <div class="box setting">
          <CopyLink of={run.run} link={run.worker_link} />
          <p class="soft small">
            {run.limits.retention ||
              "Messages and worker ids are kept until you remove them: the study sets no retention period."}
          </p>
        </div>
      </Part>
      {may(account, "export") && <ExportView run={run.run} />}
      <WorkerIds run={run.run} onForgotten={() => toast("The worker is forgotten.")} />
      {may(account, "change_runs") && run.status !== "closed" && <Ending run={run} />}
    </>
  );
}

function Ending({ run }: { run: RunDetail }) {
  const { choose, dialog } = useActionDialog(({ name }) => `${name}: ${run.run}`);
  const { close } = runActions(run);
  return (
    <Part title="End of the run">
      <div class="box setting setting-danger">
        <p>{close.about}</p>
        <Button kind="danger" onClick={() => choose(close)}>
          {close.name}
        </Button>
      </div>
      {dialog}
    </Part>
  );
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <div class="section-head">
        <h2 id={id}>{title}</h2>
      </div>
      {children}
    </section>
  );
}

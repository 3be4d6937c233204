import { useContext, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { apiAddress, send, Unauthorised } from "../api";
import type { RunDetail, RunRules } from "../api_types";
import { useFetched } from "../fetched";
import { LoadStatus } from "../LoadStatus";
import { ResearcherContext } from "../researcher";
import { RulesFields } from "./RulesFields";
import { draftOf, endsAtOnce, mistakesIn, rulesOf } from "./rules";

interface Props {
  run: RunDetail;
  onClose: () => void;
  /** The rules are changed; those before can be put back. */
  onChanged: (before: RunRules) => void;
}

/** The rules of a run, to be changed while it goes on. */
export function RulesDialog({ run, onClose, onChanged }: Props) {
  const { data, failure } = useFetched("/api/desk/runs/{run}/rules", { run: run.run }, run.run);
  return (
    <Dialog title={`Rules of ${run.run}`} onClose={onClose}>
      <LoadStatus failure={failure} empty={data === null} />
      {data && <RulesForm run={run} rules={data} onClose={onClose} onChanged={onChanged} />}
    </Dialog>
  );
}

function RulesForm({ run, rules, onClose, onChanged }: Props & { rules: RunRules }) {
  const { token, onUnauthorised } = useContext(ResearcherContext);
  const runs = useFetched("/api/desk/runs", {}, run.run);
  const [draft, setDraft] = useState(() => draftOf(rules, zoneHere()));
  const [refusal, setRefusal] = useState("");
  const [busy, setBusy] = useState(false);
  const wrong = mistakesIn(draft);
  const ready = Object.keys(wrong).length === 0;
  const over = run.status === "closed" || !ready ? null : endsAtOnce(draft, run.assignments.completed);
  const others = (runs.data?.runs ?? []).map((other) => other.run).filter((name) => name !== run.run);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!ready || busy) {
      return;
    }
    setBusy(true);
    try {
      await putRules(run.run, rulesOf(draft), token);
      onChanged(rules);
      onClose();
    } catch (error) {
      if (error instanceof Unauthorised) {
        onUnauthorised();
      }
      setRefusal(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };
  return (
    <form class="flow-form" onSubmit={(event) => void submit(event)}>
      <p class="soft">New rules apply as soon as you save them. Workers in progress can finish.</p>
      <RulesFields draft={draft} wrong={wrong} others={others} onDraft={setDraft} />
      <div role="alert">
        {over && <p class="failure">With these rules, the run ends as soon as you save: {over}.</p>}
        <p class="complaint">{refusal}</p>
      </div>
      <div class="actions">
        <Button kind="secondary" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" off={!ready || busy}>
          {over ? "Save and end the run" : "Save rules"}
        </Button>
      </div>
    </form>
  );
}

/** Have a run go by these rules. Throws as `send` does. */
export async function putRules(run: string, rules: RunRules, token: string): Promise<void> {
  await send("PUT", apiAddress("/api/desk/runs/{run}/rules", { run }), rules, token);
}

/** The time zone of this browser. */
export function zoneHere(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

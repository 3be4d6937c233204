import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { TextField } from "../../design/TextField";
import type { RunRules, StudyDetail } from "../api_types";
import { useFetched } from "../fetched";
import { zoneHere } from "../rules/RulesDialog";
import { RulesFields } from "../rules/RulesFields";
import { draftOf, mistakesIn, rulesOf } from "../rules/rules";

interface Props {
  study: StudyDetail;
  onClose: () => void;
  /** Returns why it could not be done; null where it was. */
  onOpen: (run: string, rules: RunRules, despite: boolean) => Promise<string | null>;
}

/** Asks for the name of a run, and for its rules where it is to have any. */
export function OpenRun({ study, onClose, onOpen }: Props) {
  const runs = useFetched("/api/desk/runs", {}, study.name);
  const [name, setName] = useState(
    study.runs.length === 0 ? study.name : `${study.name}-${study.runs.length + 1}`,
  );
  const [draft, setDraft] = useState(() => draftOf({}, zoneHere()));
  const [refusal, setRefusal] = useState("");
  const [busy, setBusy] = useState(false);
  const wrong = mistakesIn(draft);
  const ready = name.trim() !== "" && Object.keys(wrong).length === 0;
  const despite = refusal.includes("fit for workers");
  const submit = async (event: Event) => {
    event.preventDefault();
    if (ready && !busy) {
      setBusy(true);
      setRefusal((await onOpen(name.trim(), rulesOf(draft), despite)) ?? "");
      setBusy(false);
    }
  };
  return (
    <Dialog title="Open a run" onClose={onClose}>
      <form class="flow-form" onSubmit={(event) => void submit(event)}>
        <TextField
          label="Name of the run"
          hint="Part of the workers’ link. The run keeps this version of the study; later changes make new versions."
          value={name}
          onValue={setName}
          complaint={refusal}
        />
        <details>
          <summary>Rules: target, budget and workers</summary>
          <p class="soft small">You can change them while the run is open.</p>
          <RulesFields
            draft={draft}
            wrong={wrong}
            others={(runs.data?.runs ?? []).map(({ run }) => run)}
            onDraft={setDraft}
          />
        </details>
        <div class="actions">
          <Button kind="secondary" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" off={!ready} busy={busy}>
            {despite ? "Open anyway" : "Open the run"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

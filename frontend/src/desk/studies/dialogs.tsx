import { useContext, useEffect, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { TextField } from "../../design/TextField";
import { getJson } from "../api";
import type { StudyDetail, VersionChanges } from "../api_types";
import { ResearcherContext } from "../researcher";

interface AskProps {
  title: string;
  label: string;
  hint?: string;
  button: string;
  start?: string;
  onClose: () => void;
  /** Returns why it could not be done; null where it was. */
  onAnswer: (answer: string) => Promise<string | null>;
}

/** Asks for a name. */
export function Ask({ title, label, hint, button, start = "", onClose, onAnswer }: AskProps) {
  const [answer, setAnswer] = useState(start);
  const [failure, setFailure] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (answer.trim() && !busy) {
      setBusy(true);
      setFailure((await onAnswer(answer.trim())) ?? "");
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="study-fields" onSubmit={(event) => void submit(event)}>
        <TextField
          label={label}
          {...(hint === undefined ? {} : { hint })}
          value={answer}
          onValue={setAnswer}
          complaint={failure}
        />
        <div class="actions">
          <Button kind="secondary" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" busy={busy}>
            {button}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface ConflictProps {
  theirs: StudyDetail;
  since: number;
  onMine: () => void;
  onTheirs: () => void;
  onClose: () => void;
}

/** Somebody else has saved a version meanwhile: what they changed, and what is to become of it. */
export function Conflict({ theirs, since, onMine, onTheirs, onClose }: ConflictProps) {
  return (
    <Dialog title="Somebody else has saved this study" onClose={onClose}>
      <p>
        Version {theirs.version} was saved by {theirs.saved_by} while you edited version {since}. Nothing was
        overwritten. This is what was changed:
      </p>
      <Changes study={theirs.name} since={since} version={theirs.version} />
      <div class="actions">
        <Button kind="secondary" onClick={onClose}>
          Back to my text
        </Button>
        <Button kind="secondary" onClick={onTheirs}>
          Take theirs
        </Button>
        <Button onClick={onMine}>Save mine after theirs</Button>
      </div>
    </Dialog>
  );
}

const SIGNS = { same: " ", added: "+", removed: "−", gap: "" };

/** What was changed between two versions. */
export function Changes({ study, since, version }: { study: string; since: number; version: number }) {
  const { token } = useContext(ResearcherContext);
  const [changes, setChanges] = useState<VersionChanges | null>(null);
  useEffect(() => {
    const control = new AbortController();
    const path = "/api/desk/studies/{study}/versions/{version}/changes";
    const values = { study, version: String(version) };
    getJson(path, values, token, control.signal, { since: String(since) }).then(setChanges, () => undefined);
    return () => control.abort();
  }, [study, since, version, token]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, which needs the focus where there is no mouse
    <pre class="changes" tabIndex={0}>
      {changes?.lines.map(({ kind, text }, index) => (
        <span key={index} class={`change-${kind}`}>
          {kind === "gap" ? (index > 0 ? "⋯\n" : "") : `${SIGNS[kind]} ${text}\n`}
        </span>
      ))}
    </pre>
  );
}

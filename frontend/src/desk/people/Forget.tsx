import { useContext, useEffect, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { Failed, send } from "../api";
import type { ForgottenWorker, WorkerHoldings } from "../api_types";
import { ResearcherContext } from "../researcher";

interface Props {
  worker: string;
  /** Gets the new pseudonym; null where nothing was removed. */
  onClose: (renamed: string | null) => void;
}

/** A dialog that says what there is of a worker, and removes their words and id, or all that they gave. */
export function Forget({ worker, onClose }: Props) {
  const { token } = useContext(ResearcherContext);
  const [held, setHeld] = useState<WorkerHoldings | null>(null);
  const [everything, setEverything] = useState(false);
  const [complaint, setComplaint] = useState("");
  const ask = async (what: string, body: object) => {
    setComplaint("");
    try {
      return await send("POST", `/api/desk/workers/${what}`, body, token);
    } catch (error) {
      setComplaint(error instanceof Failed ? error.message : String(error));
      return null;
    }
  };
  useEffect(() => {
    void ask("holdings", { worker }).then((found) => setHeld(found as WorkerHoldings | null));
  }, [worker]);
  const forget = async () => {
    const forgotten = await ask("forget", { worker, extent: everything ? "all" : "words" });
    if (forgotten !== null) {
      onClose((forgotten as ForgottenWorker).worker);
    }
  };
  return (
    <Dialog title={`Forget ${worker}?`} onClose={() => onClose(null)}>
      <p role="status">
        {held
          ? `In all studies: assignments ${held.assignments} (${held.under_way} in progress), messages ` +
            `${held.lines}, ratings ${held.ratings}, answers ${held.answers}.`
          : "Loading…"}
      </p>
      <p>
        Their messages and their id are removed, and they get a new pseudonym. A session in progress ends.
        This cannot be undone. Earlier exports still contain the data.
      </p>
      <p class="job-tick">
        <input
          id="forget-all"
          type="checkbox"
          checked={everything}
          onChange={(event) => setEverything(event.currentTarget.checked)}
        />
        <label for="forget-all">Also remove their ratings and answers from all analyses</label>
      </p>
      <p class="complaint" role="alert">
        {complaint}
      </p>
      <div class="actions">
        <Button kind="secondary" onClick={() => onClose(null)}>
          Cancel
        </Button>
        {held && (
          <Button kind="danger" onClick={() => void forget()}>
            Forget
          </Button>
        )}
      </div>
    </Dialog>
  );
}

import { useContext, useEffect, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { Failed, send } from "../api";
import type { WorkerHoldings } from "../api_types";
import { ResearcherContext } from "../researcher";

/** A dialog that says what there is of a worker, and removes their words and id, or all that they gave. */
export function Forget({ worker, onClose }: { worker: string; onClose: (done: boolean) => void }) {
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
    if ((await ask("forget", { worker, extent: everything ? "all" : "words" })) !== null) {
      onClose(true);
    }
  };
  return (
    <Dialog title={`Forget ${worker}?`} onClose={() => onClose(false)}>
      <p role="status">
        {held
          ? `In all studies: assignments ${held.assignments} (${held.under_way} under way), lines that they ` +
            `wrote ${held.lines}, ratings ${held.ratings}, answers ${held.answers}.`
          : "Looking…"}
      </p>
      <p>
        What they wrote and their id are removed, and their pseudonym becomes another. A session that is under
        way ends. This can’t be undone, and what was exported before still has it.
      </p>
      <p class="job-tick">
        <input
          id="forget-all"
          type="checkbox"
          checked={everything}
          onChange={(event) => setEverything(event.currentTarget.checked)}
        />
        <label for="forget-all">
          Remove their ratings and answers, too: no analysis takes them in any more
        </label>
      </p>
      <p class="complaint" role="alert">
        {complaint}
      </p>
      <div class="actions">
        <Button kind="secondary" onClick={() => onClose(false)}>
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

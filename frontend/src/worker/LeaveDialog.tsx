import { Button } from "../design/Button";
import { Dialog } from "../design/Dialog";
import { useSession } from "./hooks";
import { underWay } from "./session/reducer";

/** Asks whether the worker means to give the assignment back. */
export function LeaveDialog({ onClose }: { onClose: () => void }) {
  const session = useSession();
  const started = session.state.screen.name !== "instructions";
  const leaving = underWay(session.state, "leave") !== null;
  return (
    <Dialog title="Leave the study?" onClose={onClose}>
      <p>
        {started
          ? "Your place goes to somebody else, and you can’t come back to this session. What you have done so far is kept, but the study counts as not finished."
          : "That is perfectly fine. Your place goes to somebody else."}
      </p>
      <div class="actions">
        <Button kind="quiet" onClick={onClose}>
          Stay
        </Button>
        <Button off={leaving} onClick={() => session.send({ type: "leave" })}>
          {leaving ? "Leaving…" : "Leave the study"}
        </Button>
      </div>
    </Dialog>
  );
}

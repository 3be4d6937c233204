import { Button } from "../design/Button";
import { Dialog } from "../design/Dialog";
import { useSession, useTexts } from "./hooks";
import { underWay } from "./session/reducer";

/** Asks whether the worker means to give the assignment back, and says what that means for their pay. */
export function LeaveDialog({ onClose }: { onClose: () => void }) {
  const session = useSession();
  const { say } = useTexts();
  const started = session.state.screen.name !== "instructions";
  const leaving = underWay(session.state, "leave") !== null;
  return (
    <Dialog title={say("leave.title")} onClose={onClose}>
      {started ? (
        <>
          <p>{say("leave.after")}</p>
          <p>{say("leave.pay")}</p>
        </>
      ) : (
        <p>{say("leave.before")}</p>
      )}
      <div class="actions">
        <Button onClick={onClose}>{say("leave.stay")}</Button>
        <Button kind="secondary" off={leaving} onClick={() => session.send({ type: "leave" })}>
          {say(leaving ? "leave.leaving" : "leave.leave")}
        </Button>
      </div>
    </Dialog>
  );
}

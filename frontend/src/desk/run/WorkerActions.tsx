import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { apiAddress } from "../api";
import type { AssignmentRow } from "../api_types";
import { type Action, ActionDialog } from "./ActionDialog";

interface Props {
  row: AssignmentRow;
  /** One button for all of them, where many workers are listed. */
  folded?: boolean;
}

/** What can be done about a worker now. */
export function WorkerActions({ row, folded }: Props) {
  const [listed, setListed] = useState(false);
  const [chosen, setChosen] = useState<Action | null>(null);
  const buttons = actionsOf(row).map((action) => (
    <Button
      key={action.name}
      kind="secondary"
      onClick={() => {
        setListed(false);
        setChosen(action);
      }}
    >
      {action.name}
    </Button>
  ));
  return (
    <>
      {folded ? (
        <Button kind="quiet" onClick={() => setListed(true)}>
          Act…<span class="unseen"> on {row.worker}</span>
        </Button>
      ) : (
        <div class="actions">{buttons}</div>
      )}
      {listed && (
        <Dialog title={`Actions for ${row.worker}`} onClose={() => setListed(false)}>
          <div class="choices">{buttons}</div>
          <div class="actions">
            <Button kind="quiet" onClick={() => setListed(false)}>
              Cancel
            </Button>
          </div>
        </Dialog>
      )}
      {chosen && (
        <ActionDialog
          title={`${chosen.name}: ${row.worker}`}
          action={chosen}
          onClose={() => setChosen(null)}
        />
      )}
    </>
  );
}

/** What can be done about a worker now, what can be undone first. */
export function actionsOf(row: AssignmentRow): Action[] {
  const at = (path: string) =>
    apiAddress(`/api/desk/assignments/{assignment}/${path}`, { assignment: row.assignment });
  const exclusion: Action = row.excluded
    ? {
        name: "Take into the analysis again",
        about: `It is left out now: ${row.excluded}`,
        method: "DELETE",
        address: at("exclusion"),
      }
    : {
        name: "Leave out of the analysis",
        about:
          "Reports, scores and exports leave this assignment out, and say so with your reason. Its data stay, the worker is not told, and you can take it back.",
        method: "PUT",
        address: at("exclusion"),
        words: { field: "reason", label: "Why", needed: true },
      };
  if (row.status !== "active") {
    return [exclusion];
  }
  const message: Action = {
    name: "Send a message",
    about: "It is shown on their page until they put it away.",
    method: "POST",
    address: at("message"),
    words: { field: "text", label: "Message to the worker", needed: true },
  };
  const release: Action = {
    name: "End session and free the slot",
    about:
      "The assignment ends here, and its place goes to the next worker. What they wrote is kept; they see that their time is over. This cannot be undone.",
    danger: true,
    method: "POST",
    address: at("release"),
  };
  const end: Action = {
    name: "End the conversation",
    about:
      "The worker goes on to rate the conversation as it is, and reads why. It stays in the analysis, marked as ended by you. This cannot be undone.",
    danger: true,
    method: "POST",
    address: at("end-conversation"),
    words: {
      field: "why",
      label: "What the worker reads",
      start: "We have ended this conversation. Please rate it as it went so far. Thank you!",
      needed: true,
    },
  };
  return [message, exclusion, ...(row.step === "chat" ? [end] : []), release];
}

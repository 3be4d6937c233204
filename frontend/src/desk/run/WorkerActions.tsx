import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { Menu } from "../../design/Menu";
import { apiAddress } from "../api";
import type { AssignmentRow } from "../api_types";
import { type Action, useActionDialog } from "./ActionDialog";

interface Props {
  row: AssignmentRow;
  /** In a table, which would cut a menu off: they open in a dialog. */
  inTable?: boolean;
}

/** What can be done about a worker now. */
export function WorkerActions({ row, inTable }: Props) {
  const [listed, setListed] = useState(false);
  const { choose, dialog } = useActionDialog(({ name }) => `${name}: ${row.worker}`);
  return (
    <>
      {inTable ? (
        <Button kind="quiet" onClick={() => setListed(true)}>
          Actions<span class="unseen"> for {row.worker}</span>
        </Button>
      ) : (
        <Menu
          label="Actions"
          items={actionsOf(row).map((action) => ({
            name: action.name,
            danger: action.danger === true,
            onChoose: () => choose(action),
          }))}
        />
      )}
      {listed && (
        <Dialog title={`Actions for ${row.worker}`} onClose={() => setListed(false)}>
          <div class="choices">
            {actionsOf(row).map((action) => (
              <Button
                key={action.name}
                kind={action.danger ? "danger" : "secondary"}
                onClick={() => {
                  setListed(false);
                  choose(action);
                }}
              >
                {action.name}
              </Button>
            ))}
          </div>
          <div class="actions">
            <Button kind="quiet" onClick={() => setListed(false)}>
              Cancel
            </Button>
          </div>
        </Dialog>
      )}
      {dialog}
    </>
  );
}

/** What can be done about a worker now, what can be undone first. */
export function actionsOf(row: AssignmentRow): Action[] {
  const at = (path: string) =>
    apiAddress(`/api/desk/assignments/{assignment}/${path}`, { assignment: row.assignment });
  const exclusion: Action = row.excluded
    ? {
        name: "Include in the analysis again",
        about: `Excluded now: ${row.excluded}`,
        done: `${row.worker} is included in the analysis again.`,
        method: "DELETE",
        address: at("exclusion"),
      }
    : {
        name: "Exclude from the analysis",
        about:
          "Reports, scores and exports exclude this assignment and state your reason. The data are kept, the worker is not told, and you can undo this.",
        done: `${row.worker} is excluded from the analysis.`,
        method: "PUT",
        address: at("exclusion"),
        words: { field: "reason", label: "Reason", needed: true },
      };
  if (row.status !== "active") {
    return [exclusion];
  }
  const message: Action = {
    name: "Send a message",
    about: "The worker sees it until they dismiss it.",
    done: `The message to ${row.worker} is sent.`,
    method: "POST",
    address: at("message"),
    words: { field: "text", label: "Message to the worker", needed: true },
  };
  const release: Action = {
    name: "End session and free the slot",
    about:
      "The assignment ends now, and its slot goes to the next worker. What they wrote is kept, and they see that their time is over. You can’t undo this.",
    done: `The session of ${row.worker} is ended, and the slot is free.`,
    danger: true,
    method: "POST",
    address: at("release"),
  };
  const end: Action = {
    name: "End the conversation",
    about:
      "The worker rates the conversation as it is, and reads why. It stays in the analysis, marked as ended by you. You can’t undo this.",
    done: `The conversation of ${row.worker} is ended. They rate it now.`,
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

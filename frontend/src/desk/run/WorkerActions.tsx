import { Menu } from "../../design/Menu";
import { apiAddress } from "../api";
import type { AssignmentRow } from "../api_types";
import { type Action, useActionDialog } from "./ActionDialog";

/** What can be done about a worker now, in a menu. */
export function WorkerActions({ row, inRow }: { row: AssignmentRow; inRow?: boolean }) {
  const { choose, dialog } = useActionDialog(({ name }) => `${name}: ${row.worker}`);
  return (
    <>
      <Menu
        label={inRow ? `Actions for ${row.worker}` : "Actions"}
        inRow={inRow === true}
        items={actionsOf(row).map((action) => ({
          name: action.name,
          danger: action.danger === true,
          onChoose: () => choose(action),
        }))}
      />
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

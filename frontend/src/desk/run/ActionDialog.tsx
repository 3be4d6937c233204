import type { ComponentChildren } from "preact";
import { useContext, useId, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { toast } from "../../design/Toast";
import { numberIn } from "../../shared/numbers";
import { send, Unauthorised } from "../api";
import { ResearcherContext } from "../researcher";

/** Something that a researcher can have the server do. */
export interface Action {
  /** What it is called, on the button that offers it and on the one that does it. */
  name: string;
  /** What comes of it, and whether it can be undone. */
  about: string;
  /** What has happened once it is done. */
  done?: string;
  method: "POST" | "PUT" | "DELETE";
  address: string;
  /** It can't be undone. */
  danger?: boolean;
  /** What is sent besides. */
  body?: Record<string, unknown>;
  /** What is to be written for it: under which name it is sent, and how it is asked for. */
  words?: { field: string; label: string; start?: string; needed: boolean; number?: boolean };
}

interface Props {
  title: string;
  action: Action;
  onClose: () => void;
}

/** Return how an action is chosen, and its dialog while it is; `onDone` is called when that closes. */
export function useActionDialog(
  titleOf: (action: Action) => string,
  onDone?: () => void,
): { choose: (action: Action) => void; dialog: ComponentChildren } {
  const [chosen, setChosen] = useState<Action | null>(null);
  const close = () => {
    setChosen(null);
    onDone?.();
  };
  const dialog = chosen && <ActionDialog title={titleOf(chosen)} action={chosen} onClose={close} />;
  return { choose: setChosen, dialog };
}

/** Asks for what an action needs, and confirms it; says why where the server refuses. */
function ActionDialog({ title, action, onClose }: Props) {
  const { token, onUnauthorised } = useContext(ResearcherContext);
  const [text, setText] = useState(action.words?.start ?? "");
  const [failure, setFailure] = useState("");
  const [busy, setBusy] = useState(false);
  const id = useId();
  const { words } = action;
  const missing = words?.needed === true && text.trim() === "";
  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy) {
      return;
    }
    if (missing) {
      setFailure("Write something first.");
      return;
    }
    if (words?.number && numberIn(text) === undefined) {
      setFailure("Give a number.");
      return;
    }
    setBusy(true);
    try {
      await send(action.method, action.address, bodyOf(action, text.trim()), token, action.name);
      action.done && toast(action.done);
      onClose();
    } catch (error) {
      if (error instanceof Unauthorised) {
        onUnauthorised();
        return;
      }
      setFailure(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="flow-form" onSubmit={(event) => void submit(event)}>
        <p>{action.about}</p>
        {words && (
          <div class="field">
            <label class="label" for={id}>
              {words.label}
            </label>
            <textarea
              id={id}
              class="input"
              rows={3}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </div>
        )}
        <p class="complaint" role="alert">
          {failure}
        </p>
        <div class="actions">
          <Button kind="secondary" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" kind={action.danger ? "danger" : "primary"} busy={busy}>
            {action.name}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function bodyOf({ body, words }: Action, text: string): Record<string, unknown> | undefined {
  if (!words || text === "") {
    return body;
  }
  return { ...body, [words.field]: words.number ? numberIn(text) : text };
}

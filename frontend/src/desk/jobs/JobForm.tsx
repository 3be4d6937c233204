import type { ComponentChildren } from "preact";
import { Button } from "../../design/Button";
import { useRequest } from "./useRequest";

interface Props {
  /** Where what is asked for is sent. */
  address: string;
  /** What is asked for, once every field is right. */
  body: () => unknown;
  ready: boolean;
  /** What the button says. */
  button: string;
  /** Asks what it costs before it begins: `begin` is for whoever means it. */
  onAsk?: (begin: () => void) => void;
  /** Leaves the form, where it stands in a dialog. */
  onCancel?: (() => void) | undefined;
  children: ComponentChildren;
}

/** What the server is to do in the background, with a button that has it begin. */
export function JobForm({ address, body, ready, button, onAsk, onCancel, children }: Props) {
  const { busy, failure, post } = useRequest();
  const submit = (event: Event) => {
    event.preventDefault();
    if (!ready || busy) {
      return;
    }
    if (onAsk) {
      onAsk(() => void post(address, { ...(body() as object), confirmed: true }, button));
    } else {
      void post(address, body(), button);
    }
  };
  return (
    <form class="box job" onSubmit={submit}>
      {children}
      <div class="actions">
        {onCancel && (
          <Button kind="secondary" onClick={onCancel}>
            Cancel
          </Button>
        )}
        <Button type="submit" off={!ready} busy={busy}>
          {button}
        </Button>
      </div>
      <div role="alert">{failure && <p class="failure">{failure}</p>}</div>
    </form>
  );
}

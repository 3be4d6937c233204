import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

interface Props {
  title: string;
  children: ComponentChildren;
  onClose: () => void;
  /** Much to fill in: set closer, with the buttons always in sight. */
  long?: boolean;
}

/** A modal dialog: traps the focus, closes on Escape, gives the focus back. Shown while it is rendered. */
export function Dialog({ title, children, onClose, long }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      class={long ? "dialog dialog-long" : "dialog"}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div class="dialog-body">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

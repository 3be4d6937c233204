import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

interface Props {
  title: string;
  children: ComponentChildren;
  onClose: () => void;
  /** Much to fill in: at the edge of the page, so that what it is about stays in sight. */
  sheet?: boolean;
}

/** A modal dialog: traps the focus, closes on Escape, gives the focus back. Shown while it is rendered. */
export function Dialog({ title, children, onClose, sheet }: Props) {
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
      class={sheet ? "dialog dialog-sheet" : "dialog"}
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

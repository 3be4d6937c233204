import type { ComponentChildren } from "preact";

interface Props {
  children: ComponentChildren;
  kind?: "primary" | "quiet" | "plain";
  type?: "button" | "submit";
  /** A button that can't be used now stays reachable, so that a screen reader can say so. */
  off?: boolean;
  describedBy?: string;
  onClick?: () => void;
}

/** A button. With `off` it is shown as unavailable; pressing it still calls `onClick`. */
export function Button({ children, kind = "primary", type = "button", off, describedBy, onClick }: Props) {
  return (
    <button
      type={type}
      class={`button button-${kind}`}
      aria-disabled={off ? "true" : undefined}
      aria-describedby={describedBy}
      onClick={onClick}
    >
      {children}
    </button>
  );
}

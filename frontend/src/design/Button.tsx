import type { ComponentChildren } from "preact";

interface Props {
  children: ComponentChildren;
  /** `secondary` has an edge, `quiet` has none, `danger` destroys. `waiting`: can be pressed, but not yet the thing to do. */
  kind?: "primary" | "secondary" | "quiet" | "danger" | "waiting";
  type?: "button" | "submit";
  /** A button that can't be used now stays reachable, so that a screen reader can say so. */
  off?: boolean;
  /** What it began is under way: it keeps its width, and pressing it again calls nothing. */
  busy?: boolean;
  onClick?: () => void;
}

/** A button. With `off` it is shown as unavailable, and pressing it calls nothing. */
export function Button({ children, kind = "primary", type = "button", off, busy, onClick }: Props) {
  const idle = !off && !busy;
  return (
    <button
      type={type}
      class={`button button-${kind}`}
      aria-disabled={idle ? undefined : "true"}
      aria-busy={busy ? "true" : undefined}
      onClick={idle ? onClick : undefined}
    >
      {children}
    </button>
  );
}

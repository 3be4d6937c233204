import type { ComponentChildren } from "preact";

interface Props {
  children: ComponentChildren;
  /** `waiting`: it can be pressed, but is not what to do now. */
  kind?: "primary" | "quiet" | "plain" | "waiting";
  type?: "button" | "submit";
  /** A button that can't be used now stays reachable, so that a screen reader can say so. */
  off?: boolean;
  onClick?: () => void;
}

/** A button. With `off` it is shown as unavailable, and pressing it calls nothing. */
export function Button({ children, kind = "primary", type = "button", off, onClick }: Props) {
  return (
    <button
      type={type}
      class={`button button-${kind}`}
      aria-disabled={off ? "true" : undefined}
      onClick={off ? undefined : onClick}
    >
      {children}
    </button>
  );
}

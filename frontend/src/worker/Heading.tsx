import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface Props {
  children: ComponentChildren;
  /** Only for who hears the page. */
  unseen?: boolean;
}

/** A screen's heading. Takes the focus when it appears, so that it is read out and Tab starts there. */
export function Heading({ children, unseen }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  // Before the screen is drawn: later it could take the focus from a field in which somebody writes already.
  useLayoutEffect(() => {
    window.scrollTo(0, 0);
    heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <h1 ref={heading} tabIndex={-1} class={unseen ? "unseen" : undefined}>
      {children}
    </h1>
  );
}

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** A screen's heading. Takes the focus when it appears, so that it is read out and Tab starts there. */
export function Heading({ children }: { children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    window.scrollTo(0, 0);
    heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}

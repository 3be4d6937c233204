import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { addressOf, GoContext, type Route } from "./route";

interface Props {
  to: Route;
  plain?: boolean;
  /** Whether the link leads to where one is. */
  here?: boolean;
  children: ComponentChildren;
}

/** A link within the desk. Opens in a new tab like any other when asked to. */
export function Link({ to, plain, here, children }: Props) {
  const go = useContext(GoContext);
  const follow = (event: MouseEvent) => {
    if (!event.metaKey && !event.ctrlKey && !event.shiftKey && event.button === 0) {
      event.preventDefault();
      go(to);
    }
  };
  return (
    <a
      href={addressOf(to)}
      class={plain ? "plain" : undefined}
      aria-current={here ? "page" : undefined}
      onClick={follow}
    >
      {children}
    </a>
  );
}

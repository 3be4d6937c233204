import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { follow } from "../design/Tabs";
import { addressOf, GoContext, type Route } from "./route";

interface Props {
  to: Route;
  plain?: boolean;
  /** The link leads to the page where one is, or, `true`, to what that page is a part of. */
  here?: "page" | "true" | undefined;
  children: ComponentChildren;
}

/** A link within the desk. Opens in a new tab like any other when asked to. */
export function Link({ to, plain, here, children }: Props) {
  const go = useContext(GoContext);
  return (
    <a
      href={addressOf(to)}
      class={plain ? "plain" : undefined}
      aria-current={here}
      onClick={(event) => follow(event, () => go(to))}
    >
      {children}
    </a>
  );
}

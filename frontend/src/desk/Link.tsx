import type { ComponentChildren } from "preact";
import { addressOf, type Route } from "./route";

interface Props {
  to: Route;
  go: (to: Route) => void;
  plain?: boolean;
  children: ComponentChildren;
}

/** A link within the desk. Opens in a new tab like any other when asked to. */
export function Link({ to, go, plain, children }: Props) {
  const follow = (event: MouseEvent) => {
    if (!event.metaKey && !event.ctrlKey && !event.shiftKey && event.button === 0) {
      event.preventDefault();
      go(to);
    }
  };
  return (
    <a href={addressOf(to)} class={plain ? "plain" : undefined} onClick={follow}>
      {children}
    </a>
  );
}

/** The way from the list of runs to where one is. */
export function Breadcrumbs({ route, go }: { route: Route; go: (to: Route) => void }) {
  return (
    <nav aria-label="Where you are" class="breadcrumbs">
      <ol>
        <li>
          {route.run ? (
            <Link to={{ run: null, assignment: null }} go={go}>
              Runs
            </Link>
          ) : (
            <span aria-current="page">Runs</span>
          )}
        </li>
        {route.run && (
          <li>
            {route.assignment ? (
              <Link to={{ run: route.run, assignment: null }} go={go}>
                {route.run}
              </Link>
            ) : (
              <span aria-current="page">{route.run}</span>
            )}
          </li>
        )}
        {route.assignment && (
          <li>
            <span aria-current="page">{route.assignment}</span>
          </li>
        )}
      </ol>
    </nav>
  );
}

import type { ComponentChildren } from "preact";
import { addressOf, type Place } from "./place";

interface Props {
  to: Place;
  go: (to: Place) => void;
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
export function Trail({ place, go }: { place: Place; go: (to: Place) => void }) {
  return (
    <nav aria-label="Where you are" class="trail">
      <ol>
        <li>
          {place.run ? (
            <Link to={{ run: null, assignment: null }} go={go}>
              Runs
            </Link>
          ) : (
            <span aria-current="page">Runs</span>
          )}
        </li>
        {place.run && (
          <li>
            {place.assignment ? (
              <Link to={{ run: place.run, assignment: null }} go={go}>
                {place.run}
              </Link>
            ) : (
              <span aria-current="page">{place.run}</span>
            )}
          </li>
        )}
        {place.assignment && (
          <li>
            <span aria-current="page">{place.assignment}</span>
          </li>
        )}
      </ol>
    </nav>
  );
}

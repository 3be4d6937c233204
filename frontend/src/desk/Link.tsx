import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { addressOf, GoContext, type Route } from "./route";

interface Props {
  to: Route;
  plain?: boolean;
  children: ComponentChildren;
}

/** A link within the desk. Opens in a new tab like any other when asked to. */
export function Link({ to, plain, children }: Props) {
  const go = useContext(GoContext);
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
export function Breadcrumbs({ route }: { route: Route }) {
  const { run, assignment } = route;
  return (
    <nav aria-label="Where you are" class="breadcrumbs">
      <ol>
        <Crumb name="Runs" to={{ run: null, assignment: null }} here={!run} />
        {run && <Crumb name={run} to={{ run, assignment: null }} here={!assignment} />}
        {assignment && <Crumb name={assignment} to={route} here />}
      </ol>
    </nav>
  );
}

function Crumb({ name, to, here }: { name: string; to: Route; here: boolean }) {
  return <li>{here ? <span aria-current="page">{name}</span> : <Link to={to}>{name}</Link>}</li>;
}

import { createContext } from "preact";
import { useEffect, useState } from "preact/hooks";

/** What the desk shows: every run, one run, or one assignment of it. */
export interface Route {
  run: string | null;
  assignment: string | null;
}

/** Goes to another route; for every link below. */
export const GoContext = createContext<(to: Route) => void>(() => undefined);

function currentRoute(): Route {
  const query = new URLSearchParams(window.location.search);
  return { run: query.get("run"), assignment: query.get("assignment") };
}

/** The address of a route. */
export function addressOf({ run, assignment }: Route): string {
  const query = new URLSearchParams();
  if (run) {
    query.set("run", run);
  }
  if (assignment) {
    query.set("assignment", assignment);
  }
  const text = query.toString();
  return `/desk${text && "?"}${text}`;
}

/** The route that the address names, and a way to go to another; the browser's buttons work. */
export function useRoute(): [Route, (to: Route) => void] {
  const [route, setRoute] = useState(currentRoute);
  useEffect(() => {
    const back = () => setRoute(currentRoute());
    window.addEventListener("popstate", back);
    return () => window.removeEventListener("popstate", back);
  }, []);
  const go = (to: Route) => {
    history.pushState(null, "", addressOf(to));
    setRoute(to);
    window.scrollTo(0, 0);
  };
  return [route, go];
}

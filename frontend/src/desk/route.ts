import { createContext } from "preact";
import { useEffect, useState } from "preact/hooks";
import { atServer, ROOT } from "../shared/site";

/** What the desk shows. */
export type Route =
  | { page: "runs" | "studies" | "people" | "audit" }
  | { page: "study"; study: string }
  | { page: "run" | "report" | "rehearsal" | "export" | "recruiting" | "wizard"; run: string }
  | { page: "assignment"; run: string; assignment: string };

/** Goes to another route; for every link below. */
export const GoContext = createContext<(to: Route) => void>(() => undefined);

/** The route that an address names; one that names nothing is that of the runs. */
export function routeOf(path: string): Route {
  const [, , place, name, part, id] = path.split("/").map(decoded);
  if (place === "studies") {
    return name ? { page: "study", study: name } : { page: "studies" };
  }
  if (place === "people" || place === "audit") {
    return { page: place };
  }
  if (place !== "runs" || !name) {
    return { page: "runs" };
  }
  if (
    part === "report" ||
    part === "rehearsal" ||
    part === "export" ||
    part === "recruiting" ||
    part === "wizard"
  ) {
    return { page: part, run: name };
  }
  return part === "assignments" && id
    ? { page: "assignment", run: name, assignment: id }
    : { page: "run", run: name };
}

function routeHere(): Route {
  return routeOf(window.location.pathname.slice(ROOT.length - 1));
}

/** The address of a route. */
export function addressOf(route: Route): string {
  return [atServer("/desk"), ...parts(route).map(encodeURIComponent)].join("/");
}

function parts(route: Route): string[] {
  switch (route.page) {
    case "runs":
      return [];
    case "study":
      return ["studies", route.study];
    case "run":
      return ["runs", route.run];
    case "report":
    case "rehearsal":
    case "export":
    case "recruiting":
    case "wizard":
      return ["runs", route.run, route.page];
    case "assignment":
      return ["runs", route.run, "assignments", route.assignment];
    default:
      return [route.page];
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The route that the address names, and a way to go to another; the browser's buttons work. */
export function useRoute(): [Route, (to: Route) => void] {
  const [route, setRoute] = useState(() => routeHere());
  useEffect(() => {
    const back = () => setRoute(routeHere());
    window.addEventListener("popstate", back);
    return () => window.removeEventListener("popstate", back);
  }, []);
  const go = (to: Route) => {
    history.pushState(history.state, "", addressOf(to));
    setRoute(to);
    window.scrollTo(0, 0);
  };
  return [route, go];
}

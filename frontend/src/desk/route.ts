import { createContext } from "preact";
import { useEffect, useState } from "preact/hooks";
import { atServer, ROOT } from "../shared/site";
import { STEPS, type StepName } from "./studies/steps";

/** What the desk shows. */
export type Route =
  | { page: "runs" | "studies" | "people" | "audit" }
  | { page: "unknown"; path: string }
  | { page: "study"; study: string; step?: StepName }
  | { page: "run" | "report" | "rehearsal" | "export" | "recruiting" | "wizard"; run: string }
  | { page: "assignment"; run: string; assignment: string };

/** Goes to another route; for every link below. */
export const GoContext = createContext<(to: Route) => void>(() => undefined);

/** The route that an address names. */
export function routeOf(path: string): Route {
  const [, , place = "", name = "", part = "", id = "", ...more] = path
    .replace(/\/+$/, "")
    .split("/")
    .map(decoded);
  const last = [name, part, id, ...more].filter(Boolean).length;
  const unknown: Route = { page: "unknown", path };
  switch (place) {
    case "":
      return { page: "runs" };
    case "studies":
      return name ? (ofStudy(name, part, last) ?? unknown) : { page: "studies" };
    case "people":
    case "audit":
      return last > 0 ? unknown : { page: place };
    case "runs":
      return name ? (ofRun(name, part, id, last) ?? unknown) : { page: "runs" };
    default:
      return unknown;
  }
}

function ofStudy(study: string, part: string, last: number): Route | null {
  if (last === 1) {
    return { page: "study", study };
  }
  const step = STEPS.find((each) => each.step === part)?.step;
  return step && last === 2 ? { page: "study", study, step } : null;
}

function ofRun(run: string, part: string, id: string, last: number): Route | null {
  switch (part) {
    case "":
      return { page: "run", run };
    case "report":
    case "rehearsal":
    case "export":
    case "recruiting":
    case "wizard":
      return last > 2 ? null : { page: part, run };
    case "assignments":
      return last === 3 ? { page: "assignment", run, assignment: id } : null;
    default:
      return null;
  }
}

function routeHere(): Route {
  return routeOf(window.location.pathname.slice(ROOT.length - 1));
}

/** The address of a route. */
export function addressOf(route: Route): string {
  if (route.page === "unknown") {
    return atServer(route.path);
  }
  return [atServer("/desk"), ...parts(route).map(encodeURIComponent)].join("/");
}

function parts(route: Exclude<Route, { page: "unknown" }>): string[] {
  switch (route.page) {
    case "runs":
      return [];
    case "study":
      return ["studies", route.study, ...(route.step ? [route.step] : [])];
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

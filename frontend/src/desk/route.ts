import { createContext } from "preact";
import { useEffect, useState } from "preact/hooks";
import { atServer, ROOT } from "../shared/site";
import { STEPS, type StepName } from "./studies/steps";

/** The pages of a run that are its tabs, in their order; `run` is the overview. */
export const RUN_TABS = [
  "run",
  "workers",
  "transcripts",
  "bots",
  "report",
  "recruiting",
  "settings",
] as const;
export type RunTab = (typeof RUN_TABS)[number];

/** A page about one run; `shown` is which of its workers are listed, `part` what of an assignment is read. */
export type RunRoute =
  | { page: Exclude<RunTab, "workers"> | "rehearsal" | "wizard"; run: string }
  | { page: "workers"; run: string; shown?: string }
  | { page: "assignment"; run: string; assignment: string; part?: string };

/** What the desk shows. */
export type Route =
  | { page: "runs" | "studies" | "people" | "audit" }
  | { page: "unknown"; path: string }
  | { page: "study"; study: string; step?: StepName }
  | RunRoute;

/** Goes to another route; for every link below. */
export const GoContext = createContext<(to: Route) => void>(() => undefined);

/** The route that an address names. */
export function routeOf(path: string): Route {
  const [, , place = "", ...parts] = path.replace(/\/+$/, "").split("/").map(decoded);
  const [name = "", ...more] = parts;
  const unknown: Route = { page: "unknown", path };
  switch (place) {
    case "":
      return { page: "runs" };
    case "studies":
      return name ? (ofStudy(name, more) ?? unknown) : { page: "studies" };
    case "people":
    case "audit":
      return name ? unknown : { page: place };
    case "runs":
      return name ? (ofRun(name, more) ?? unknown) : { page: "runs" };
    default:
      return unknown;
  }
}

function ofStudy(study: string, [part = "", ...more]: string[]): Route | null {
  if (!part) {
    return { page: "study", study };
  }
  const step = STEPS.find((each) => each.step === part)?.step;
  return step && more.length === 0 ? { page: "study", study, step } : null;
}

function ofRun(run: string, [page = "", ...more]: string[]): Route | null {
  const [first, part] = more;
  switch (page) {
    case "":
      return { page: "run", run };
    case "workers":
      return more.length > 1 ? null : { page, run, ...(first ? { shown: first } : {}) };
    case "transcripts":
    case "bots":
    case "report":
    case "recruiting":
    case "settings":
    case "rehearsal":
    case "wizard":
      return more.length > 0 ? null : { page, run };
    case "export": // until exports were among the settings
      return more.length > 0 ? null : { page: "settings", run };
    case "assignments":
      return first && more.length < 3
        ? { page: "assignment", run, assignment: first, ...(part ? { part } : {}) }
        : null;
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
    case "studies":
    case "people":
    case "audit":
      return [route.page];
    case "study":
      return ["studies", route.study, ...(route.step ? [route.step] : [])];
    case "run":
      return ["runs", route.run];
    case "workers":
      return ["runs", route.run, route.page, ...(route.shown ? [route.shown] : [])];
    case "transcripts":
    case "bots":
    case "report":
    case "recruiting":
    case "settings":
    case "rehearsal":
    case "wizard":
      return ["runs", route.run, route.page];
    case "assignment":
      return ["runs", route.run, "assignments", route.assignment, ...(route.part ? [route.part] : [])];
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

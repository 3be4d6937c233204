import { useEffect, useState } from "preact/hooks";

/** What the desk shows: every run, one run, or one assignment of it. */
export interface Place {
  run: string | null;
  assignment: string | null;
}

function here(): Place {
  const query = new URLSearchParams(window.location.search);
  return { run: query.get("run"), assignment: query.get("assignment") };
}

/** The address of a place. */
export function addressOf({ run, assignment }: Place): string {
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

/** The place that the address names, and a way to go to another; the browser's buttons work. */
export function usePlace(): [Place, (to: Place) => void] {
  const [place, setPlace] = useState(here);
  useEffect(() => {
    const back = () => setPlace(here());
    window.addEventListener("popstate", back);
    return () => window.removeEventListener("popstate", back);
  }, []);
  const go = (to: Place) => {
    history.pushState(null, "", addressOf(to));
    setPlace(to);
    window.scrollTo(0, 0);
  };
  return [place, go];
}

import type { Session } from "./session/session";

/** An event for the page around the frame that this page stands in. docs/how-to/studies/embed-in-any-page.md describes it. */
type Progress = { candor: "started" } | { candor: "finished" | "ended"; code: string | null };

/**
 * Tell the page around this one's frame when the worker starts, finishes, or ends without finishing. The server lets only the
 * study's own sites show this page in a frame, so whoever is there may know.
 */
export function tellParent(session: Session): () => void {
  let told: string | null = null;
  return session.subscribe(() => {
    const progress = progressOf(session);
    if (progress && progress.candor !== told && window.parent !== window) {
      told = progress.candor;
      window.parent.postMessage(progress, "*");
    }
  });
}

function progressOf({ state: { screen } }: Session): Progress | null {
  switch (screen.name) {
    case "loading":
    case "instructions":
      return null;
    case "done":
      return { candor: "finished", code: screen.code };
    case "ended":
      return { candor: "ended", code: screen.code };
    default:
      return { candor: "started" };
  }
}

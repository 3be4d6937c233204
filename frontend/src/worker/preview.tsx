import { render } from "preact";
import "../design/tokens.css";
import "../design/base.css";
import "../design/parts.css";
import "./worker.css";
import { PrefixedStorage } from "../shared/storage";
import { App } from "./App";
import { SessionContext } from "./hooks";
import type { Snapshot, TextsCard } from "./session/protocol";
import { initial, reduce, type State } from "./session/reducer";
import { Session } from "./session/session";
import { fitViewport } from "./viewport";

/** A session that nobody holds: it shows what the desk around it says, and sends nothing. */
class PreviewSession extends Session {
  readonly #watchers = new Set<() => void>();
  readonly #nothing = new PrefixedStorage(null, "");
  #shown: State = initial();

  constructor() {
    super({ run: "preview", worker: null, signature: null, parameters: {}, doubled: [] });
  }

  override get state(): State {
    return this.#shown;
  }

  override get words(): TextsCard | null {
    return this.#shown.study?.words ?? null;
  }

  override get drafts(): PrefixedStorage {
    return this.#nothing;
  }

  override subscribe(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  override takeRefusedText(): string {
    return "";
  }

  /** What a worker would send leads to the next page: the desk shows it. */
  override send(): void {
    window.parent.postMessage({ preview: "next" }, window.location.origin);
  }

  show(snapshot: Snapshot): void {
    const connected = reduce(initial(), { type: "connection", connection: "open" });
    this.#shown = reduce(connected, { type: "received", message: snapshot });
    for (const watcher of this.#watchers) {
      watcher();
    }
  }
}

// The worker's page puts the focus where one goes on. Within the desk that would take it from whoever is
// writing the study, so only a preview that has the focus already moves it.
const moveFocus = HTMLElement.prototype.focus;
HTMLElement.prototype.focus = function focus(this: HTMLElement, options?: FocusOptions) {
  if (document.hasFocus()) {
    moveFocus.call(this, options);
  }
};

const page = document.getElementById("page");
if (page) {
  fitViewport();
  const session = new PreviewSession();
  window.addEventListener("message", (event: MessageEvent<{ snapshot?: Snapshot }>) => {
    if (event.origin !== window.location.origin || !event.data.snapshot) {
      return;
    }
    session.show(event.data.snapshot);
    // Each page anew, as its worker comes to it: no slider keeps where it stood.
    render(null, page);
    render(
      <SessionContext.Provider value={session}>
        <App />
      </SessionContext.Provider>,
      page,
    );
  });
  window.parent.postMessage({ preview: "ready" }, window.location.origin);
}

import { render } from "preact";
import "../design/tokens.css";
import "../design/base.css";
import "../design/parts.css";
import "./worker.css";
import { App } from "./App";
import { tellParent } from "./embedding";
import { BrokenScreen, Guard } from "./Guard";
import { SessionContext } from "./hooks";
import { Session, visitorOf } from "./session/session";
import { surviveTranslation } from "./translation";
import { fitViewport } from "./viewport";

const page = document.getElementById("page");
if (page) {
  fitViewport();
  const session = new Session(visitorOf(window.location.pathname, window.location.search));
  surviveTranslation(page, () => session.translated());
  tellParent(session);
  void session.open();
  render(
    <SessionContext.Provider value={session}>
      <Guard part="page" fallback={<BrokenScreen />}>
        <App />
      </Guard>
    </SessionContext.Provider>,
    page,
  );
}

import { render } from "preact";
import "../design/tokens.css";
import "../design/base.css";
import "../design/parts.css";
import "../design/components.css";
import "./desk.css";
import "./people/people.css";
import "./run/run.css";
import "./jobs/jobs.css";
import { App } from "./App";

const page = document.getElementById("page");
if (page) {
  // A new link with a token, opened in the same tab.
  window.addEventListener("hashchange", () => window.location.reload());
  render(<App />, page);
}

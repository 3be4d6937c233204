import { render } from "preact";
import "../design/tokens.css";
import "../design/base.css";
import "../design/parts.css";
import "../design/components.css";
import "../desk/desk.css";
import "./gallery.css";
import { Gallery } from "./Gallery";
import { forceStates } from "./states";

// Development only: `npm run dev`, then /gallery.html. The build has no such page.
const page = document.getElementById("page");
if (page) {
  forceStates();
  render(<Gallery />, page);
}

/**
 * Keep `--screen` at the height that is really to be seen, so that a phone's keyboard covers nothing.
 * Browsers that shrink the page by themselves lose nothing by it.
 */
export function fitViewport(): void {
  const view = window.visualViewport;
  if (!view) {
    return;
  }
  const setHeight = () => {
    // A page that is zoomed in is larger than its view; it is left alone.
    if (view.scale < 1.05) {
      document.documentElement.style.setProperty("--screen", `${Math.round(view.height)}px`);
    }
  };
  view.addEventListener("resize", setHeight);
  setHeight();
}

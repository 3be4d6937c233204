const SHORT_PX = 480;

/**
 * Keep `--screen` at the height that is really to be seen, so that a phone's keyboard covers nothing, and mark the page
 * `data-short` where that is little. Browsers that shrink the page by themselves lose nothing by it.
 */
export function fitViewport(): void {
  const view = window.visualViewport;
  if (!view) {
    return;
  }
  const setHeight = () => {
    // A page that is zoomed in is larger than its view; it is left alone.
    if (view.scale < 1.05) {
      const { style, dataset } = document.documentElement;
      style.setProperty("--screen", `${Math.round(view.height)}px`);
      if (view.height < SHORT_PX) {
        dataset.short = "";
      } else {
        delete dataset.short;
      }
    }
  };
  view.addEventListener("resize", setHeight);
  setHeight();
}

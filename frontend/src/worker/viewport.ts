const SHORT_PX = 480;
/** Where what belongs to a conversation has no room beside it, and stands on one bar above it. */
const NARROW = "(max-width: 52rem)";

/**
 * Keep `--screen` at the height that is really to be seen, so that a phone's keyboard covers nothing. Mark the page
 * `data-short` where that is little, and `data-bar` where a conversation has one bar. Browsers that shrink the page by
 * themselves lose nothing by it.
 */
export function fitViewport(): void {
  const narrow = window.matchMedia(NARROW);
  const view = window.visualViewport;
  const { style, dataset } = document.documentElement;
  const setMarks = () => {
    // A page that is zoomed in is larger than its view; it is left alone.
    if (view && view.scale < 1.05) {
      // Within a frame WebKit keeps the view's first height.
      const height = Math.min(view.height, window.innerHeight);
      style.setProperty("--screen", `${Math.round(height)}px`);
      mark(dataset, "short", height < SHORT_PX);
    }
    mark(dataset, "bar", narrow.matches || "short" in dataset);
  };
  view?.addEventListener("resize", setMarks);
  window.addEventListener("resize", setMarks);
  setMarks();
}

function mark(dataset: DOMStringMap, name: "short" | "bar", on: boolean): void {
  if (on) {
    dataset[name] = "";
  } else {
    delete dataset[name];
  }
}

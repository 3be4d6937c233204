const BEAT_MS = 5_000;
const SLEPT_MS = 20_000;

/**
 * Watch for moments at which a connection deserves a fresh look. `wake`: the page is seen again or the
 * network is said to be back. `slept`: the machine slept or changed networks, so that an open connection
 * is likely to be dead. Returns a function that ends the watch.
 */
export function watch(wake: () => void, slept: () => void): () => void {
  let beat = Date.now();
  const timer = setInterval(() => {
    const now = Date.now();
    if (now - beat > SLEPT_MS && document.visibilityState === "visible") {
      slept();
    }
    beat = now;
  }, BEAT_MS);
  const seen = () => {
    if (document.visibilityState === "visible") {
      wake();
    }
  };
  const shown = (event: PageTransitionEvent) => {
    if (event.persisted) {
      slept();
    }
  };
  window.addEventListener("online", slept);
  window.addEventListener("pageshow", shown);
  document.addEventListener("visibilitychange", seen);
  return () => {
    clearInterval(timer);
    window.removeEventListener("online", slept);
    window.removeEventListener("pageshow", shown);
    document.removeEventListener("visibilitychange", seen);
  };
}

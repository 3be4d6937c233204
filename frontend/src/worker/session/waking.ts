import { isSeen } from "../../shared/browser";

const BEAT_MS = 5_000;
const SLEPT_MS = 20_000;

/**
 * Watch for moments at which a connection deserves a fresh look. `wake`: the page is seen again or the
 * network is said to be back. `slept`: the machine slept or changed networks, so that an open connection
 * is likely to be dead.
 */
export function watch(wake: () => void, slept: () => void): void {
  let beat = Date.now();
  setInterval(() => {
    const now = Date.now();
    if (now - beat > SLEPT_MS && isSeen()) {
      slept();
    }
    beat = now;
  }, BEAT_MS);
  window.addEventListener("online", slept);
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) {
      slept();
    }
  });
  document.addEventListener("visibilitychange", () => {
    if (isSeen()) {
      wake();
    }
  });
}

import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const server = "http://127.0.0.1:8000";
const FONTS = ["@fontsource-variable/inter", "@fontsource/source-serif-4"];

/** Puts the licence of the fonts beside them, as it asks for. */
function fontLicences(): Plugin {
  return {
    name: "font-licences",
    async generateBundle() {
      const read = (font: string) => this.fs.readFile(`node_modules/${font}/LICENSE`, { encoding: "utf8" });
      const texts = await Promise.all(FONTS.map(read));
      this.emitFile({ type: "asset", fileName: "assets/fonts-licence.txt", source: texts.join("\n\n") });
    },
  };
}

export default defineConfig({
  // The server may be reached below a path: pages are told where their scripts lie, scripts find the rest from there.
  base: "./",
  plugins: [fontLicences()],
  build: {
    // The oldest that docs/worker.md names. What they lack besides syntax has its place in src/shared/browser.ts.
    target: ["chrome92", "edge92", "firefox98", "safari15.4"],
    outDir: "../server/pages",
    emptyOutDir: true,
    // The server's content security policy is `default-src 'self'`: nothing may be inlined as a data: URL.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { input: { worker: "worker.html", preview: "preview.html", desk: "desk.html" } },
  },
  server: {
    proxy: { "/api": server, "/ws": { target: server, ws: true } },
  },
  // A test may take its time on a busy machine: only one that never ends is cut off.
  test: { environment: "node", include: ["test/**/*.test.ts"], testTimeout: 120_000 },
});

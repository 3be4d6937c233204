const SCRIPTS = "/assets/";

/**
 * The path below which this server is reached: `/`, or `/candor/` behind a proxy that serves it there. The page's
 * own script lies below it, and knows where it came from.
 */
export const ROOT = rootOf(new URL(import.meta.url).pathname);

/** The path below which the server of the script at `path` is reached. */
export function rootOf(path: string): string {
  const end = path.lastIndexOf(SCRIPTS);
  return end < 0 ? "/" : path.slice(0, end + 1);
}

/** The path at which a browser reaches what the server calls `path`. */
export function atServer(path: string): string {
  return ROOT + path.replace(/^\//, "");
}

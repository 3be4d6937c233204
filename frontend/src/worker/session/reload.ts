import type { PrefixedStorage } from "../../shared/storage";

const KEY = "reloaded";

/**
 * Claim the one time that a page of protocol `version` may load itself anew because the server speaks another.
 *
 * Returns whether it was still free in this tab. It never is where the tab can't remember: a page that comes
 * back as it was must not load itself for ever.
 */
export function claimReload(version: number, storage: PrefixedStorage): boolean {
  return storage.get(KEY) !== version && storage.set(KEY, version);
}

import { expect, it } from "vitest";
import { PrefixedStorage } from "../../../src/shared/storage";
import { claimReload } from "../../../src/worker/session/reload";
import { MemoryStorage } from "../../shared/support";

it("a page loads itself anew once for every version, and never where that can't be remembered", () => {
  const tab = new PrefixedStorage(new MemoryStorage(), "p:");
  expect([2, 2, 3, 3].map((version) => claimReload(version, tab))).toEqual([true, false, true, false]);
  expect(claimReload(2, new PrefixedStorage(null, "p:"))).toBe(false);
});

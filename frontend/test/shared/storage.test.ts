import { describe, expect, it } from "vitest";
import { PrefixedStorage } from "../../src/shared/storage";
import { MemoryStorage } from "./support";

describe("a storage", () => {
  it("keeps values under its prefix and clears only those", () => {
    const store = new MemoryStorage();
    const [ours, theirs] = [new PrefixedStorage(store, "a:"), new PrefixedStorage(store, "b:")];
    ours.set("1:draft", "Hello");
    ours.set("2:draft", "there");
    theirs.set("1:draft", "Bye");
    ours.clear("1:");
    expect([ours.get("1:draft"), ours.get("2:draft"), theirs.get("1:draft")]).toEqual([null, "there", "Bye"]);
  });

  it("is merely forgetful where storage is refused or spoilt", () => {
    const storage = new PrefixedStorage(null, "a:");
    storage.set("x", 1);
    expect(storage.get("x")).toBeNull();
    const store = new MemoryStorage();
    store.setItem("a:x", "{not JSON");
    expect(new PrefixedStorage(store, "a:").get("x")).toBeNull();
  });
});

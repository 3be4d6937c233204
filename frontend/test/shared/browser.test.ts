import { afterEach, describe, expect, it, vi } from "vitest";
import { browserStorage, forgetsWithTab, oneTabAtATime } from "../../src/shared/browser";
import { inLocalStorage } from "../../src/shared/storage";

afterEach(() => vi.unstubAllGlobals());

/** A tab whose browser refuses site data: what stays over a reload is its entry in the history. */
function refusingTab() {
  const refuse = () => {
    throw new DOMException("denied", "SecurityError");
  };
  const history = {
    state: null as unknown,
    replaceState(state: unknown) {
      history.state = structuredClone(state);
    },
  };
  const window = { history };
  Object.defineProperty(window, "localStorage", { get: refuse });
  vi.stubGlobal("window", window);
  return history;
}

describe("a browser without storage", () => {
  it("has what the page kept after a reload, and other users of the history keep theirs", async () => {
    const history = refusingTab();
    history.state = { theirs: 1 };
    expect(inLocalStorage("a:").set("token", "T")).toBe(true);
    expect(forgetsWithTab()).toBe(true);
    expect(history.state).toMatchObject({ theirs: 1 });
    vi.resetModules(); // the page is loaded anew
    const anew = await import("../../src/shared/browser");
    expect(anew.browserStorage("localStorage").getItem("a:token")).toBe(JSON.stringify("T"));
  });

  it("says where a text lasts for as long as the page only", () => {
    const history = refusingTab();
    history.replaceState = () => {
      throw new DOMException("too many calls", "SecurityError");
    };
    const storage = inLocalStorage("b:");
    expect(storage.set("draft", "Hello")).toBe(false);
    expect(storage.get("draft")).toBe("Hello");
  });

  it("is one that has storage and refuses to write", () => {
    const history = refusingTab();
    const full = {
      setItem: () => {
        throw new DOMException("full", "QuotaExceededError");
      },
    };
    vi.stubGlobal("window", { history, sessionStorage: full });
    browserStorage("sessionStorage").setItem("c", "1");
    expect(history.state).toMatchObject({ candor: { c: "1" } });
  });
});

describe("one tab at a time", () => {
  const act = () => vi.fn(() => Promise.resolve("done"));

  it("waits for the lock where there are locks", async () => {
    const request = vi.fn((_name: string, _options: unknown, held: () => Promise<void>) => held());
    vi.stubGlobal("navigator", { locks: { request } });
    const acting = act();
    expect(await oneTabAtATime("a", 0, acting)).toBe("done");
    expect(request).toHaveBeenCalledTimes(1);
    expect(acting).toHaveBeenCalledTimes(1);
  });

  it.each([
    ["there are none", undefined],
    ["they are refused", () => Promise.reject(new DOMException("denied", "SecurityError"))],
    [
      "they throw",
      () => {
        throw new TypeError("odd");
      },
    ],
  ])("goes ahead where %s", async (_, request) => {
    vi.stubGlobal("navigator", request ? { locks: { request } } : {});
    const acting = act();
    expect(await oneTabAtATime("a", 0, acting)).toBe("done");
    expect(acting).toHaveBeenCalledTimes(1);
  });

  it("goes ahead behind a tab that does not let go", async () => {
    vi.useFakeTimers();
    const request = (_: string, { signal }: { signal: AbortSignal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    vi.stubGlobal("navigator", { locks: { request } });
    const done = oneTabAtATime("a", 0, act());
    await vi.runAllTimersAsync();
    expect(await done).toBe("done");
    vi.useRealTimers();
  });

  it("fails as the act does", async () => {
    vi.stubGlobal("navigator", {});
    await expect(oneTabAtATime("a", 0, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  });
});

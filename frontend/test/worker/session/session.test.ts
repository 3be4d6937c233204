import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { PROTOCOL_VERSION } from "../../../src/worker/session/protocol";
import { Session, visitorOf } from "../../../src/worker/session/session";
import { MemoryStorage } from "../../shared/support";
import { conversation, error, FakeConnection, NEXT_ATTEMPT, NOW, snapshot } from "./support";

describe("a visitor's address", () => {
  it("names the run and, if at all, the worker", () => {
    const nobody = { worker: null, signature: null, parameters: {}, doubled: [] };
    expect(visitorOf("/w/demo", "?worker=A1")).toEqual({ ...nobody, run: "demo", worker: "A1" });
    expect(visitorOf("/w/demo/", "")).toEqual({ ...nobody, run: "demo" });
    expect(visitorOf("/w/two%20words", "?worker=")).toEqual({ ...nobody, run: "two words" });
    expect(visitorOf("/w/%E0%A4%A", "")).toEqual({ ...nobody, run: "%E0%A4%A" });
  });

  it("has the signature of a personal link", () => {
    const read = visitorOf("/w/demo", "?worker=a+b%26c&signature=yWn0-_x");
    const signed = { worker: "a b&c", signature: "yWn0-_x" };
    expect(read).toEqual({ run: "demo", ...signed, parameters: {}, doubled: [] });
  });

  it("is understood in whatever case its own names are written", () => {
    expect(visitorOf("/w/demo", "?Worker=A1&SIGNATURE=s&Other=1")).toMatchObject({
      worker: "A1",
      signature: "s",
      parameters: { Other: "1" },
    });
  });

  it("has what a platform names its people by, and no more than the server takes", () => {
    const { worker, parameters } = visitorOf(
      "/w/demo",
      `?PROLIFIC_PID=5f&SESSION_ID=a%20b&long=${"x".repeat(2_501)}`,
    );
    expect({ worker, parameters }).toEqual({
      worker: null,
      parameters: { PROLIFIC_PID: "5f", SESSION_ID: "a b" },
    });
    const many = Array.from({ length: 30 }, (_, n) => `p${n}=1`).join("&");
    expect(Object.keys(visitorOf("/w/demo", `?${many}`).parameters)).toHaveLength(20);
  });

  it("does not say who comes where it says so twice, and differently", () => {
    const twice = visitorOf("/w/demo", "?PROLIFIC_PID=a&SESSION_ID=s&PROLIFIC_PID=b&SESSION_ID=s");
    expect(twice).toMatchObject({ parameters: { SESSION_ID: "s" }, doubled: ["PROLIFIC_PID"] });
    expect(visitorOf("/w/demo", "?worker=A&Worker=B")).toMatchObject({ worker: null, doubled: ["worker"] });
    expect(visitorOf("/w/demo", "?worker=A&worker=A")).toMatchObject({ worker: "A", doubled: [] });
  });
});

// As the server makes them: what the token opens in base64, a time stamp, a signature.
const TOKEN = "IjAxSlFaIg.aSEQ8g.c2lnbmF0dXJl";
const ASSIGNMENT = "01JQZ";

/** What stays when a page is loaded anew: the browser's storage. `reload` counts. */
function browser() {
  return { local: new MemoryStorage(), tab: new MemoryStorage(), reload: vi.fn() };
}

const welcoming = () => Response.json({ token: TOKEN, socket: "/ws", assignment: ASSIGNMENT });

/** Open a page of the study in the browser, up to the point where it has a connection. */
async function openPage(
  { local, tab, reload }: ReturnType<typeof browser>,
  navigator: unknown = {},
  server: (path: string, body: string) => Response = welcoming,
) {
  const connections: FakeConnection[] = [];
  const window = {
    localStorage: local,
    sessionStorage: tab,
    location: { href: "http://127.0.0.1:8000/w/demo", reload },
    addEventListener: () => undefined,
  };
  vi.stubGlobal("window", window);
  vi.stubGlobal("document", { visibilityState: "visible", addEventListener: () => undefined });
  vi.stubGlobal("navigator", navigator);
  vi.stubGlobal("fetch", (path: string, { body }: { body: string }) => Promise.resolve(server(path, body)));
  vi.stubGlobal(
    "WebSocket",
    class extends FakeConnection {
      constructor() {
        super();
        connections.push(this);
      }
    },
  );
  const session = new Session({ run: "demo", worker: null, signature: null, parameters: {}, doubled: [] });
  await session.open();
  const last = () => {
    const connection = connections.at(-1);
    if (!connection) {
      throw new Error("the page did not connect");
    }
    return connection;
  };
  return { session, connection: last(), last };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("a page that the server calls outdated", () => {
  it("loads itself anew once, and asks the worker the second time", async () => {
    const here = browser();
    const first = await openPage(here);
    first.connection.onopen?.();
    first.connection.says(error(null, "outdated_page"));
    expect(here.reload).toHaveBeenCalledTimes(1);
    expect(first.session.problem).toBeNull();
    const second = await openPage(here);
    second.connection.onopen?.();
    second.connection.says(error(null, "outdated_page"));
    expect(here.reload).toHaveBeenCalledTimes(1);
    expect(second.session.problem).toMatchObject({ remedy: "reload" });
  });

  it("asks the worker at once where the tab remembers nothing", async () => {
    const here = browser();
    vi.spyOn(here.tab, "setItem").mockImplementation(() => {
      throw new Error("refused");
    });
    const { session, connection } = await openPage(here);
    connection.onopen?.();
    connection.says(error(null, "outdated_page"));
    expect(here.reload).not.toHaveBeenCalled();
    expect(session.problem).toMatchObject({ remedy: "reload" });
  });

  it("keeps what has no answer and what was typed", async () => {
    const here = browser();
    const before = await openPage(here);
    before.connection.welcomes();
    before.session.send({ type: "say", ...NOW, turn: 0, text: "Hello" });
    before.session.drafts.set("2:draft", "And then");
    // The server is replaced by a newer one: the page comes back after its first pause of at most 500 ms.
    before.connection.drops();
    vi.advanceTimersByTime(500);
    before.last().onopen?.();
    before.last().says(error(null, "outdated_page"));
    expect(here.reload).toHaveBeenCalledTimes(1);
    const { session, connection } = await openPage(here);
    connection.welcomes();
    expect(connection.sent[1]).toMatchObject({ type: "say", ...NOW, turn: 0, text: "Hello" });
    expect(session.drafts.get("2:draft")).toBe("And then");
  });
});

describe("a browser that refuses site data", () => {
  it("lets the page join all the same", async () => {
    const denied = () => Promise.reject(new DOMException("denied", "SecurityError"));
    const { session, connection } = await openPage(browser(), { locks: { request: denied } });
    connection.welcomes();
    expect(session.state.connection).toBe("open");
  });
});

describe("a token that is too old", () => {
  it("is shown to the server again, which decides, and is never forgotten", async () => {
    const here = browser();
    const joins: string[] = [];
    const { session, connection } = await openPage(here, {}, (_path, body) => {
      joins.push((JSON.parse(body) as { token: string }).token);
      const error = { code: "token_expired", message: "Too old", hint: "" };
      return joins.length === 1 ? welcoming() : Response.json({ error, words: null }, { status: 401 });
    });
    connection.onopen?.();
    connection.says(error(null, "token_expired"));
    await vi.advanceTimersByTimeAsync(0);
    expect(joins).toEqual([null, TOKEN]);
    expect(session.problem).toMatchObject({ code: "token_expired", remedy: null });
    expect(here.local.getItem("candor:demo::token")).toBe(JSON.stringify(TOKEN));
  });
});

describe("a WebSocket that does not come about", () => {
  it("is called blocked once the server hears of it over HTTP, and no more once it is there", async () => {
    const told: unknown[] = [];
    const { session, last } = await openPage(browser(), {}, (path, body) => {
      if (path === "/api/page-trouble") {
        told.push(JSON.parse(body));
        return new Response(null, { status: 204 });
      }
      return welcoming();
    });
    for (const _ of [1, 2, 3]) {
      expect(session.blocked).toBe(false);
      last().drops();
      await vi.advanceTimersByTimeAsync(2_000);
    }
    expect(told).toEqual([{ token: TOKEN, trouble: "no_socket", text: "" }]);
    expect(session.blocked).toBe(true);
    last().welcomes();
    expect(session.blocked).toBe(false);
  });

  it("is not called blocked where the server is not there at all", async () => {
    const { session, last } = await openPage(browser(), {}, (path) =>
      path === "/api/page-trouble" ? new Response(null, { status: 502 }) : welcoming(),
    );
    for (const _ of [1, 2, 3]) {
      last().drops();
      await vi.advanceTimersByTimeAsync(2_000);
    }
    expect(session.blocked).toBe(false);
  });
});

describe("a message that is too long for the server to answer", () => {
  it("is refused here, and what comes after it is sent", async () => {
    const { session, connection } = await openPage(browser());
    connection.welcomes();
    // 30 answers of 2,000 characters of three bytes: 180,000 bytes, where the server hangs up at 65,536.
    const answers = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`q${n}`, "語".repeat(2_000)]));
    session.send({ type: "questionnaire", part: "before", answers });
    expect(session.state).toMatchObject({ notice: { code: "too_long" }, pending: [] });
    session.send({ type: "say", ...NOW, turn: 0, text: "Hello" });
    expect(connection.sent.map(({ type }) => type)).toEqual(["hello", "say"]);
  });
});

describe("an agreement that comes when there is no place any more", () => {
  it.each(["run_full", "run_closed", "link_unsigned"])(
    "shows what joining would have shown: %s",
    async (code) => {
      const { session, connection, last } = await openPage(browser());
      connection.welcomes(snapshot({ phase: "instructions", conversation: null }));
      session.send({ type: "agree" });
      connection.says(error(connection.sent[1]?.id ?? null, code));
      expect(session.problem).toMatchObject({ code });
      expect(session.state.pending).toEqual([]);
      expect(connection.closed).toBe(true);
      vi.advanceTimersByTime(60_000);
      expect(last()).toBe(connection);
    },
  );

  it("leads those back to the platform who came from there", async () => {
    const { session, connection } = await openPage(browser());
    connection.welcomes(snapshot({ phase: "instructions", conversation: null }));
    session.send({ type: "agree" });
    const wayBack = { platform: "Prolific", to: "https://app.prolific.com" };
    connection.says({ ...error(connection.sent[1]?.id ?? null, "run_full"), way_back: wayBack });
    expect(session.problem).toMatchObject({ code: "run_full", wayBack });
  });

  it("is no end where it may be sent again", async () => {
    const { session, connection } = await openPage(browser());
    connection.welcomes(snapshot({ phase: "instructions", conversation: null }));
    session.send({ type: "agree" });
    const id = connection.sent[1]?.id ?? null;
    connection.says(error(id, "rate_limited", true));
    expect(session.problem).toBeNull();
    vi.advanceTimersByTime(1_000);
    expect(connection.sent[2]).toMatchObject({ type: "agree", id });
  });
});

// Exactly what a page of version 1 has written: the worker's input was sent and has no answer, a topic change and half a
// line are not sent yet.
function leftByVersionOne(): ReturnType<typeof browser> {
  const here = browser();
  const left = {
    "candor:demo::token": TOKEN,
    "candor:IjAxSlFaIg:outbox": [{ type: "say", k: 2, turn: 0, text: "Hello", id: "a" }],
    "candor:IjAxSlFaIg:2:draft": "And then",
    "candor:IjAxSlFaIg:2:change": { how: null, topic: "Cheese", opinion: null, bot_opinion: null },
  };
  for (const [key, value] of Object.entries(left)) {
    here.local.setItem(key, JSON.stringify(value));
  }
  return here;
}

describe("what a page of protocol version 1 has left", () => {
  it("is sent under the same id as of the first attempt, and drafts are there", async () => {
    const { session, connection } = await openPage(leftByVersionOne());
    connection.welcomes();
    expect(connection.sent).toMatchObject([
      { type: "hello", token: TOKEN, protocol: PROTOCOL_VERSION },
      { type: "say", id: "a", ...NOW, turn: 0, text: "Hello" },
    ]);
    expect(connection.sent[1]).not.toHaveProperty("k");
    expect(session.drafts.get("2:draft")).toBe("And then");
    expect(session.drafts.get("2:change")).toMatchObject({ topic: "Cheese" });
  });

  it("goes back to the composer when the server is in another attempt", async () => {
    const { session, connection } = await openPage(leftByVersionOne());
    connection.welcomes(snapshot({ conversation: conversation([], false, NEXT_ATTEMPT) }));
    expect(connection.sent[1]).toMatchObject({ ...NOW });
    connection.says(error("a", "wrong_phase"));
    expect(session.takeRefusedText()).toBe("Hello");
    expect(session.state.pending).toEqual([]);
  });

  it("is let go once it is acknowledged, also for a page that is opened later", async () => {
    const here = leftByVersionOne();
    const { connection } = await openPage(here);
    connection.welcomes();
    expect(connection.sent.at(-1)).toMatchObject({ id: "a" });
    connection.says({ type: "accepted", id: "a" });
    const later = await openPage(here);
    later.connection.welcomes();
    expect(later.connection.sent.map(({ type }) => type)).toEqual(["hello"]);
  });
});

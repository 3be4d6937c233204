import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { PrefixedStorage } from "../../../src/shared/storage";
import { Outbox } from "../../../src/worker/session/outbox";
import { PROTOCOL_VERSION } from "../../../src/worker/session/protocol";
import { type ConnectionState, type ServerMessage, Socket } from "../../../src/worker/session/socket";
import { MemoryStorage } from "../../shared/support";
import { conversation, error, FakeConnection, line, NOW, say, snapshot } from "./support";

function setUp(store = new MemoryStorage()) {
  const connections: FakeConnection[] = [];
  const states: ConnectionState[] = [];
  const heard: ServerMessage[] = [];
  const refused: string[] = [];
  const outbox = new Outbox(new PrefixedStorage(store, "p:"));
  const socket = new Socket({
    connect: () => {
      const connection = new FakeConnection();
      connections.push(connection);
      return connection;
    },
    token: "secret",
    outbox,
    onMessage: (message) => heard.push(message),
    onConnection: (state) => states.push(state),
    onUnopened: () => undefined,
    onRefused: (code) => refused.push(code),
    random: () => 1,
  });
  const last = () => {
    const connection = connections.at(-1);
    if (!connection) {
      throw new Error("no connection yet");
    }
    return connection;
  };
  return { socket, outbox, connections, states, heard, refused, last, store };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("connecting", () => {
  it("says hello with the token first and is open after the snapshot", () => {
    const { socket, states, last } = setUp();
    socket.start();
    last().onopen?.();
    expect(last().sent).toMatchObject([{ type: "hello", token: "secret", protocol: PROTOCOL_VERSION }]);
    expect(states.at(-1)).toBe("connecting");
    last().says(snapshot());
    expect(states.at(-1)).toBe("open");
  });

  it("takes the messages of a frame in their order, and none after it has let the connection go", () => {
    const { socket, heard, last } = setUp();
    socket.start();
    last().welcomes();
    last().says(
      { type: "typing", ...NOW },
      { type: "taken_over" },
      { type: "said", ...NOW, turn: 1, text: "Too late." },
    );
    expect(heard.map(({ type }) => type)).toEqual(["snapshot", "typing"]);
  });

  it("reads an answer that stands by itself, as pages of any version are answered", () => {
    const { socket, refused, last } = setUp();
    socket.start();
    last().onopen?.();
    last().onmessage?.({ data: JSON.stringify(error(null, "outdated_page")) });
    expect(refused).toEqual(["outdated_page"]);
  });

  it("tries again with growing pauses", () => {
    const { socket, connections, states, last } = setUp();
    socket.start();
    // With random = 1 the pauses are 500, 1000, 2000, … ms.
    for (const [tries, pause] of [500, 1000, 2000].entries()) {
      last().drops();
      expect(states.at(-1)).toBe("lost");
      vi.advanceTimersByTime(pause - 1);
      expect(connections).toHaveLength(tries + 1);
      vi.advanceTimersByTime(1);
      expect(connections).toHaveLength(tries + 2);
    }
  });

  it.each([
    [
      "a message was accepted",
      (connection: FakeConnection) => connection.says({ type: "accepted", id: "a" }),
    ],
    ["a connection has lasted for 10 s", () => vi.advanceTimersByTime(10_000)],
  ])("starts with short pauses again once %s", (_, succeed) => {
    const { socket, connections, last } = setUp();
    socket.start();
    last().drops();
    vi.advanceTimersByTime(500);
    last().drops();
    vi.advanceTimersByTime(1000);
    last().welcomes();
    succeed(last());
    last().drops();
    vi.advanceTimersByTime(500);
    expect(connections).toHaveLength(4);
  });

  it("does not hammer a server that greets and then fails", () => {
    const { socket, connections, last } = setUp();
    socket.start();
    socket.send(say("a", "Hello", 0));
    for (const [tries, pause] of [500, 1000, 2000, 4000, 8000].entries()) {
      last().welcomes();
      last().says(error(null, "internal"));
      last().drops();
      vi.advanceTimersByTime(pause - 1);
      expect(connections).toHaveLength(tries + 1);
      vi.advanceTimersByTime(1);
    }
  });

  it("is made anew when a reply is due and nothing comes for 25 s", () => {
    const { socket, connections, states, last } = setUp();
    socket.start();
    last().welcomes();
    last().says({ type: "typing", ...NOW });
    vi.advanceTimersByTime(20_000);
    last().says({ type: "accepted", id: "a" });
    vi.advanceTimersByTime(24_999);
    expect(connections[0]?.closed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(connections[0]?.closed).toBe(true);
    vi.advanceTimersByTime(500);
    expect(connections).toHaveLength(2);
    expect(states).not.toContain("lost");
    last().welcomes(snapshot({ conversation: conversation([line(0, "Hello")], true) }));
    vi.advanceTimersByTime(25_000);
    expect(connections[1]?.closed).toBe(true);
  });

  it("may be silent while no reply is due", () => {
    const { socket, connections, last } = setUp();
    socket.start();
    last().welcomes();
    last().says({ type: "typing", ...NOW });
    last().says({ type: "said", ...NOW, turn: 1, text: "Hi!" });
    vi.advanceTimersByTime(600_000);
    expect(connections).toHaveLength(1);
  });

  it("hands on a snapshot that comes in between, and sends nothing for it", () => {
    const { socket, heard, last } = setUp();
    socket.start();
    last().welcomes();
    socket.send(say("a", "Hello", 0));
    last().says(snapshot({ phase: "rating" }));
    expect(heard.at(-1)).toMatchObject({ type: "snapshot", phase: "rating" });
    expect(last().sent.map(({ type }) => type)).toEqual(["hello", "say"]);
  });

  it("gives up on a connection that never greets", () => {
    const { socket, connections, last } = setUp();
    socket.start();
    last().onopen?.();
    vi.advanceTimersByTime(10_000 + 500);
    expect(connections[0]?.closed).toBe(true);
    expect(connections).toHaveLength(2);
  });

  it("tries at once when woken, unless a connection is there", () => {
    const { socket, connections, last } = setUp();
    socket.start();
    last().drops();
    socket.wake();
    expect(connections).toHaveLength(2);
    last().welcomes();
    socket.wake();
    expect(connections).toHaveLength(2);
  });

  it("replaces a connection that may be dead", () => {
    const { socket, connections, last } = setUp();
    socket.start();
    last().welcomes();
    socket.recycle();
    expect(connections[0]?.closed).toBe(true);
    expect(connections).toHaveLength(2);
  });

  it("ignores what is not a message", () => {
    const { socket, heard, last } = setUp();
    socket.start();
    last().onmessage?.({ data: "not JSON" });
    last().says(["a list"]);
    expect(heard).toEqual([]);
  });
});

describe("the outbox", () => {
  it("holds messages until there is a connection", () => {
    const { socket, last } = setUp();
    socket.start();
    socket.send(say("a", "Hello", 0));
    last().onopen?.();
    expect(last().sent.map(({ id }) => id)).not.toContain("a");
    last().says(snapshot());
    expect(last().sent.at(-1)).toEqual(say("a", "Hello", 0));
  });

  it("sends what has no answer once more on every new connection, with the same id", () => {
    const { socket, outbox, last } = setUp();
    socket.start();
    last().welcomes();
    socket.send(say("a", "Hello", 0));
    for (let round = 0; round < 3; round += 1) {
      last().drops();
      vi.advanceTimersByTime(500);
      last().welcomes();
      expect(last().sent.filter(({ id }) => id === "a")).toHaveLength(1);
    }
    last().says({ type: "accepted", id: "a" });
    expect(outbox.waiting).toEqual([]);
    last().drops();
    vi.advanceTimersByTime(500);
    last().welcomes();
    expect(last().sent.map(({ type }) => type)).toEqual(["hello"]);
  });

  it("outlives a refresh", () => {
    const { socket, store } = setUp();
    socket.start();
    socket.send(say("a", "Hello", 0));
    const after = setUp(store);
    after.socket.start();
    after.last().welcomes();
    expect(after.last().sent.at(-1)).toEqual(say("a", "Hello", 0));
  });

  it("drops a connection that leaves a message without an answer", () => {
    const { socket, connections, last } = setUp();
    socket.start();
    last().welcomes();
    socket.send(say("a", "Hello", 0));
    vi.advanceTimersByTime(12_000 + 500);
    expect(connections).toHaveLength(2);
    last().welcomes();
    expect(last().sent.at(-1)).toMatchObject({ id: "a" });
  });

  it("lets go of a message that was refused, and tells why", () => {
    const { socket, outbox, heard, last } = setUp();
    socket.start();
    last().welcomes();
    socket.send(say("a", "Hello", 0));
    last().says(error("a", "too_long"));
    expect(outbox.waiting).toEqual([]);
    expect(heard.at(-1)).toMatchObject({ type: "error", code: "too_long" });
  });

  it("lets go of a message of another phase, and connects for a fresh snapshot", () => {
    const { socket, outbox, connections, states, heard, last } = setUp();
    socket.start();
    last().welcomes();
    socket.send(say("a", "Hello", 0));
    socket.send({ type: "leave", id: "b" });
    last().says(error("a", "wrong_phase"));
    expect(outbox.waiting.map(({ id }) => id)).toEqual(["b"]);
    expect(heard.at(-1)).toMatchObject({ type: "error", code: "wrong_phase" });
    expect(connections[0]?.closed).toBe(true);
    vi.advanceTimersByTime(500);
    last().welcomes();
    expect(connections).toHaveLength(2);
    expect(
      last()
        .sent.map(({ id }) => id)
        .slice(1),
    ).toEqual(["b"]);
    expect(states).not.toContain("lost");
  });

  it("is shared by two tabs without loss", () => {
    const store = new MemoryStorage();
    const [one, two] = [
      new Outbox(new PrefixedStorage(store, "p:")),
      new Outbox(new PrefixedStorage(store, "p:")),
    ];
    one.add(say("a", "Hello", 0));
    two.add(say("b", "there", 0));
    two.remove("b");
    expect(new Outbox(new PrefixedStorage(store, "p:")).waiting).toEqual([say("a", "Hello", 0)]);
    one.remove("a");
    expect(store.length).toBe(0);
  });

  it("tries a message again that may be sent later, a few times, then lets go", () => {
    const { socket, outbox, heard, last } = setUp();
    socket.start();
    last().welcomes();
    socket.send(say("a", "Hello", 0));
    for (const pause of [1000, 2000, 4000, 8000, 16_000]) {
      last().says(error("a", "storage_failed", true));
      expect(outbox.waiting).toHaveLength(1);
      vi.advanceTimersByTime(pause);
      expect(last().sent.at(-1)).toMatchObject({ id: "a" });
    }
    expect(last().sent.filter(({ id }) => id === "a")).toHaveLength(6);
    expect(heard.filter(({ type }) => type === "error")).toEqual([]);
    last().says(error("a", "storage_failed", true));
    expect(outbox.waiting).toEqual([]);
    expect(heard.at(-1)).toMatchObject({ type: "error", code: "storage_failed" });
  });

  it("keeps the order of messages", () => {
    const { socket, last } = setUp();
    socket.start();
    socket.send({ type: "agree", id: "1" });
    socket.send({ type: "leave", id: "2" });
    last().welcomes();
    expect(
      last()
        .sent.map(({ id }) => id)
        .slice(1),
    ).toEqual(["1", "2"]);
  });
});

describe("the end", () => {
  it("does not come back after being taken over, until asked to", () => {
    const { socket, connections, states, last } = setUp();
    socket.start();
    last().welcomes();
    last().says({ type: "taken_over" });
    expect(states.at(-1)).toBe("taken_over");
    last().drops();
    socket.wake();
    socket.recycle();
    vi.advanceTimersByTime(60_000);
    expect(connections).toHaveLength(1);
    socket.start();
    expect(connections).toHaveLength(2);
  });

  it.each(["token_expired", "token_invalid", "outdated_page"])(
    "stops when it is refused for good: %s",
    (code) => {
      const { socket, connections, refused, last } = setUp();
      socket.start();
      last().onopen?.();
      last().says(error(last().sent[0]?.id ?? null, code));
      expect(refused).toEqual([code]);
      vi.advanceTimersByTime(60_000);
      expect(connections).toHaveLength(1);
    },
  );

  it("tries again when the server refuses a hello only for now", () => {
    const { socket, connections, refused, last } = setUp();
    socket.start();
    last().onopen?.();
    last().says(error(last().sent[0]?.id ?? null, "rate_limited", true));
    last().drops();
    vi.advanceTimersByTime(500);
    expect(refused).toEqual([]);
    expect(connections).toHaveLength(2);
  });

  it.each([
    { type: "completed", code: "ABCD", return_to: null },
    { type: "ended", phase: "expired" },
    snapshot({ phase: "done", conversation: null, code: "ABCD" }),
  ])("closes for good after $type, with an empty outbox", (message) => {
    const { socket, connections, states, outbox, last } = setUp();
    socket.start();
    socket.send(say("a", "Hello", 0));
    last().welcomes();
    last().says(message);
    expect(states.at(-1)).toBe("closed");
    expect(outbox.waiting).toEqual([]);
    vi.advanceTimersByTime(60_000);
    expect(connections).toHaveLength(1);
  });
});

import { describe, expect, it } from "vitest";
import { ago, inMinutes, lasting, minutes, moment, when } from "../../src/desk/format";

describe("times on the desk", () => {
  it("are read as UTC", () => {
    expect(moment("2025-01-02T03:04:05").toISOString()).toBe("2025-01-02T03:04:05.000Z");
    expect(moment("2025-01-02T03:04:05+01:00").toISOString()).toBe("2025-01-02T02:04:05.000Z");
  });

  it("say which zone they are in", () => {
    const zone = new Intl.DateTimeFormat(undefined, { timeZoneName: "short" })
      .formatToParts(new Date("2025-01-02T03:04:05Z"))
      .find(({ type }) => type === "timeZoneName");
    expect(when("2025-01-02T03:04:05Z")).toContain(zone?.value);
  });

  it("are told as ages and lengths", () => {
    const now = new Date("2025-01-02T03:04:05Z");
    expect(ago("2025-01-02T03:03:50", now)).toBe("just now");
    expect(ago("2025-01-02T02:52:05", now)).toBe("12 min ago");
    expect(ago("2024-12-30T02:52:05", now)).toBe("3 d ago");
    expect(ago(null, now)).toBe("–");
    expect(lasting("2025-01-02T02:52:05", now)).toBe("12 min");
    expect(inMinutes(40)).toBe("40 min");
    expect(inMinutes(200)).toBe("3 h 20 min");
    expect(minutes("2025-01-02T03:00:00", "2025-01-02T03:04:30")).toBe("4.5 min");
    // The page's clock goes on in steps, and may be behind the server's.
    expect(minutes("2025-01-02T03:00:05", "2025-01-02T03:00:03")).toBe("0.0 min");
    expect(minutes("2025-01-02T03:04:00", "2025-01-02T03:00:00")).toBe("0.0 min");
  });
});

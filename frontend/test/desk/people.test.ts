import { describe, expect, it } from "vitest";
import { inFull } from "../../src/design/dates";
import { aboutOf } from "../../src/desk/people/action";
import { linkActions, signInOf } from "../../src/desk/people/PeopleTable";
import { inWords } from "../../src/desk/people/roles";

const UNTIL = "2026-12-05T03:14:00Z";
const ann = { name: "ann@example.org", has_password: false, link_expires_at: UNTIL };

describe("an invitation", () => {
  it("is open until its link expires or is revoked", () => {
    const until = inFull(new Date(UNTIL));
    const [before, after] = [new Date("2026-12-01T00:00:00Z"), new Date("2026-12-06T00:00:00Z")];
    expect(signInOf(ann, before)).toBe(`Invited; link valid until ${until}`);
    expect(signInOf(ann, after)).toBe("Invited; link expired");
    expect(signInOf({ ...ann, link_expires_at: null }, before)).toBe("Invited; no link");
    expect(signInOf({ ...ann, has_password: true, link_expires_at: null }, before)).toBe("Has a password");
    expect(signInOf({ ...ann, has_password: true }, before)).toBe(
      `Has a password; link valid until ${until}`,
    );
  });

  it("can be sent where there is a mail server and an address", () => {
    const names = (person: typeof ann, mails: boolean) =>
      linkActions(person, "/p", mails, async () => true).map(({ name }) => name);
    expect(names(ann, true)).toEqual(["New link", "Send new link by e-mail", "Revoke link"]);
    expect(names(ann, false)).toEqual(["New link", "Revoke link"]);
    expect(names({ ...ann, name: "ann" }, true)).toEqual(["New link", "Revoke link"]);
  });

  it("says where it went and how long it is good for", () => {
    const made = { name: "ann", link: "https://lab.example/desk#link=x", link_expires_at: UNTIL };
    expect(aboutOf({ ...made, mailed: true })).toMatch(/^Sent to ann\. It works once, until .*2026/);
    expect(aboutOf({ name: "gpu", token: "t" })).toBe("Copy it now: it is not shown again.");
  });
});

describe("a role", () => {
  it("is named with its study", () => {
    expect(inWords({ role: "analyst", study: "demo" })).toBe("Analyst, demo");
    expect(inWords({ role: "owner", study: null })).toBe("Owner, all studies");
  });
});

import { describe, expect, it } from "vitest";
import type { DifferenceRow, SubmissionRow } from "../../../src/desk/api_types";
import { amount, centsOf } from "../../../src/desk/recruiting/amounts";
import { wrongWith } from "../../../src/desk/recruiting/DecisionDialog";
import { remedyOf } from "../../../src/desk/recruiting/Differences";
import { payOf } from "../../../src/desk/recruiting/Submissions";

const at = (path: string) => `/r/${path}`;

function row(remedy: DifferenceRow["remedy"]): DifferenceRow {
  return { kind: "wrong_code", remedy, submission: "s1", assignment: "a1", worker: "W1", share: 40 };
}

describe("the remedy of a difference", () => {
  it("is a decision on the submission, with all that Prolific wants", () => {
    expect(remedyOf(row("approve"), at)).toMatchObject({
      address: "/r/decisions",
      body: { submissions: ["s1"], decision: "approve" },
    });
    expect(remedyOf(row("partial"), at).body).toEqual({
      submissions: ["s1"],
      decision: "partial",
      share: 40,
    });
    expect(remedyOf(row("request_return"), at).words?.field).toBe("reason");
    expect(remedyOf(row("remind"), at)).toMatchObject({
      address: "/r/messages",
      body: { submissions: ["s1"] },
    });
  });

  it("is something done about the assignment here, where that is what is wrong", () => {
    expect(remedyOf(row("release"), at).address).toBe("/api/desk/assignments/a1/release");
    expect(remedyOf(row("exclude"), at)).toMatchObject({
      method: "PUT",
      address: "/api/desk/assignments/a1/exclusion",
    });
  });
});

describe("a decision", () => {
  it("is held against Prolific's rules before it is sent", () => {
    expect(wrongWith("reject", "x".repeat(99), 0)).toContain("100 characters");
    expect(wrongWith("reject", "x".repeat(100), 0)).toBe("");
    expect(wrongWith("partial", "Sorry.", 7)).toContain("8 to 99");
    expect(wrongWith("partial", "Sorry.", Number.NaN)).toContain("8 to 99");
    expect(wrongWith("partial", "", 50)).toBe("Write something first.");
    expect(wrongWith("bonus", "thanks", 0)).toContain("how much");
    expect(wrongWith("approve", "", 0)).toBe("");
  });
});

describe("amounts", () => {
  it("are cents inside and decimals on the page", () => {
    expect(amount(5, "GBP")).toBe("0.05 GBP");
    expect(amount(450, null)).toBe("4.50");
    expect(centsOf("4.35")).toBe(435); // 434.99… in floating point
  });
});

describe("what becomes of pay", () => {
  const base = { decision: null, proposal: null } as SubmissionRow;
  it("is what was decided, else what is proposed", () => {
    const proposal = { pay: "part", share: 50, why: "a chatbot failed" } as const;
    expect(payOf(base)).toBe("–");
    expect(payOf({ ...base, proposal })).toBe("to be paid 50 %: a chatbot failed");
    const decision = { decision: "approve", share: null, decided_by: "ann" } as SubmissionRow["decision"];
    expect(payOf({ ...base, proposal, decision })).toBe("paid in full, by ann");
  });
});

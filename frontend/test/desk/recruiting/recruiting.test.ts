import { describe, expect, it } from "vitest";
import type { BatchRow, DifferenceRow, SubmissionRow } from "../../../src/desk/api_types";
import { amount, centsOf } from "../../../src/desk/recruiting/amounts";
import { lookAt, stateOf, worthOf } from "../../../src/desk/recruiting/Bonuses";
import { wrongWith } from "../../../src/desk/recruiting/DecisionDialog";
import { remediesOf } from "../../../src/desk/recruiting/Differences";
import { estimated } from "../../../src/desk/recruiting/DraftForm";
import { bonusOf, countsOf, isOpen, payOf, thereOf } from "../../../src/desk/recruiting/states";

const at = (path: string) => `/r/${path}`;

function row(remedy: DifferenceRow["remedy"], more: Partial<DifferenceRow> = {}): DifferenceRow {
  const whose = { submission: "s1", assignment: "a1", worker: "W1" };
  return { kind: "wrong_code", remedy, ...whose, share: 40, batch: null, decision: 7, ...more };
}

function remedyOf(one: DifferenceRow) {
  return remediesOf(one, "Marketplace", at)[0];
}

describe("the remedy of a difference", () => {
  it("is a decision on the submission, with all that the platform wants", () => {
    expect(remedyOf(row("approve"))).toMatchObject({
      address: "/r/decisions",
      body: { submissions: ["s1"], decision: "approve" },
    });
    expect(remedyOf(row("partial"))?.body).toEqual({
      submissions: ["s1"],
      decision: "partial",
      share: 40,
    });
    expect(remedyOf(row("request_return"))?.words?.field).toBe("reason");
    expect(remedyOf(row("remind"))).toMatchObject({
      address: "/r/messages",
      body: { submissions: ["s1"] },
    });
  });

  it("decides what the platform has paid, where that is known", () => {
    expect(remedyOf(row("decide_again"))?.body).toEqual({
      submissions: ["s1"],
      decision: "partial",
      share: 40,
      instead_of: [7],
    });
    expect(remedyOf(row("decide_again", { share: 100 }))?.body).toMatchObject({ decision: "approve" });
    expect(remediesOf(row("decide_again", { share: null }), "Marketplace", at)).toEqual([]);
    expect(remediesOf(row("change_budget"), "Marketplace", at)).toEqual([]);
    expect(remedyOf(row("look", { batch: 3 }))?.address).toBe("/r/bonuses/{batch}/look");
  });

  it("is something done about the assignment here, where that is what is wrong", () => {
    expect(remedyOf(row("release"))?.address).toBe("/api/desk/assignments/a1/release");
    expect(remedyOf(row("exclude"))).toMatchObject({
      method: "PUT",
      address: "/api/desk/assignments/a1/exclusion",
    });
  });
});

describe("a decision", () => {
  it("is held against the platform's rules before it is sent", () => {
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
    expect(payOf({ ...base, proposal })).toBe("Pay 50 %: a chatbot failed");
    const decision = { decision: "approve", share: null, decided_by: "ann" } as SubmissionRow["decision"];
    expect(payOf({ ...base, proposal, decision })).toBe("Approved by ann");
  });

  it("says what the platform has paid, and which bonuses are only sent", () => {
    const there = { ...base, status: "PARTIALLY APPROVED", paid_share: 30, bonus_sent: 20, bonus_paid: 150 };
    expect(thereOf(there)).toBe("partially approved, paid 30\u00a0%");
    expect(thereOf({ ...there, status: "APPROVED", paid_share: 100 })).toBe("approved");
    expect(bonusOf(there, "GBP")).toBe("bonus 1.50 GBP paid; bonus 0.20 GBP sent, not seen paid");
    expect(bonusOf({ ...there, bonus_sent: 0, bonus_paid: 0 }, "GBP")).toBe("");
  });
});

describe("a plan", () => {
  it("adds up what is typed, and leaves the fee to the platform", () => {
    const plan = { places: "8", reward: "4.50", minutes: "20", screenOuts: "2", screenOutReward: "0.50" };
    expect(estimated(plan, "Marketplace")).toEqual([
      ["Rewards", "8 × 4.50 = 36.00"],
      ["Screen-outs, at most", "2 × 0.50 = 1.00"],
      ["Marketplace’s fee and tax", "shown with the draft"],
      ["Total without fee", "37.00"],
    ]);
    const empty = { places: "", reward: "", minutes: "", screenOuts: "", screenOutReward: "" };
    expect(estimated(empty, "Marketplace").map(([, value]) => value)).toEqual([
      ...["–", "–", "shown with the draft", "–"],
    ]);
  });
});

describe("totals", () => {
  it("count submissions by what has become of them", () => {
    const of = (status: string, more: Partial<SubmissionRow> = {}) =>
      ({ status, decision: null, proposal: null, ...more }) as SubmissionRow;
    const proposal = { pay: "all", share: null, why: "finished here" } as const;
    const rows = [
      of("ACTIVE"),
      of("RETURNED"),
      of("AWAITING REVIEW", { proposal }),
      of("AWAITING REVIEW"),
      of("APPROVED"),
      of("SCREENED OUT"),
      of("REJECTED"),
    ];
    expect(countsOf(rows, 9)).toEqual([
      ["Submitted", "5 of 9"],
      ["To decide", "1"],
      ["Approved", "1"],
      ["Paid in part or screened out", "1"],
      ["Rejected", "1"],
    ]);
    expect(rows.map(isOpen)).toEqual([false, true, true, true, false, false, false]);
  });
});

describe("bonuses", () => {
  it("are sent before they are paid, and can be checked", () => {
    const bonuses = [true, false].map((seen_paid) => ({ submission: "s1", cents: 5, seen_paid }));
    expect(stateOf({ state: "sent", bonuses } as unknown as BatchRow, "Marketplace")).toBe(
      "Sent. Marketplace has accepted it and pays in the next minutes. 1 of 2 seen paid.",
    );
    expect(stateOf({ state: "paid", bonuses } as unknown as BatchRow, "Marketplace")).toBe(
      "Paid: seen at Marketplace.",
    );
    expect(lookAt(3, "Marketplace", at).method).toBe("POST");
  });

  it("are not all shown as the first of them", () => {
    const of = (...cents: number[]) =>
      worthOf({ bonuses: cents.map((each) => ({ submission: "s1", cents: each })) } as BatchRow, "GBP");
    expect(of(150, 150)).toBe("2 × 1.50 GBP");
    expect(of(150, 5)).toBe("2 bonuses of 0.05 to 1.50 GBP");
  });
});

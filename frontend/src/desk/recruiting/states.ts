import type { SubmissionRow } from "../api_types";
import { amount } from "./amounts";

const DECIDED: Record<NonNullable<SubmissionRow["decision"]>["decision"], string> = {
  approve: "Approved",
  reject: "Rejected",
  partial: "Paid in part",
  screen_out: "Screened out, paid",
  request_return: "Asked to return it",
};
const SETTLED = new Set(["APPROVED", "PARTIALLY APPROVED", "REJECTED", "SCREENED OUT"]);
const REVIEWABLE = new Set(["AWAITING REVIEW", "RETURNED", "TIMED-OUT"]);

/** Where a submission stands on the platform, in words. */
export function thereOf({ status, paid_share: share }: SubmissionRow): string {
  return share === null || share === 100
    ? status.toLowerCase()
    : `${status.toLowerCase()}, paid ${share}\u00a0%`;
}

/** What bonuses a submission gets: what was sent is not paid before it is seen there. */
export function bonusOf(row: SubmissionRow, currency: string | null): string {
  const paid = row.bonus_paid > 0 ? [`bonus ${amount(row.bonus_paid, currency)} paid`] : [];
  const sent = row.bonus_sent > 0 ? [`bonus ${amount(row.bonus_sent, currency)} sent, not seen paid`] : [];
  return [...paid, ...sent].join("; ");
}

/** What becomes of a submission's pay, in words. */
export function payOf({ decision, proposal }: SubmissionRow): string {
  if (decision) {
    const share = decision.share === null ? "" : ` (${decision.share} %)`;
    return `${DECIDED[decision.decision]}${share} by ${decision.decided_by}`;
  }
  if (!proposal) return "–";
  if (proposal.pay === "all") return `Approve: ${proposal.why}`;
  return proposal.pay === "part"
    ? `Pay ${proposal.share} %: ${proposal.why}`
    : `Could be rejected: ${proposal.why}`;
}

/** Whether the platform still takes a decision about a submission, and none was made. */
export function isOpen({ status, decision }: SubmissionRow): boolean {
  return decision === null && REVIEWABLE.has(status);
}

/** How many submissions there are of each kind, with their names. */
export function countsOf(rows: readonly SubmissionRow[], places: number): [name: string, count: string][] {
  const of = (...statuses: string[]) => rows.filter(({ status }) => statuses.includes(status)).length;
  const submitted = rows.filter(({ status }) => SETTLED.has(status) || status === "AWAITING REVIEW").length;
  return [
    ["Submitted", `${submitted} of ${places}`],
    ["To decide", String(rows.filter(({ proposal }) => proposal !== null).length)],
    ["Approved", String(of("APPROVED"))],
    ["Paid in part or screened out", String(of("PARTIALLY APPROVED", "SCREENED OUT"))],
    ["Rejected", String(of("REJECTED"))],
  ];
}

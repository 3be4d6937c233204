import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Table } from "../../design/Table";
import type { SubmissionRow } from "../api_types";
import { type At, amount } from "./amounts";
import { DecisionDialog } from "./DecisionDialog";

const COLUMNS = [
  { name: "Chosen" },
  { name: "Submission" },
  { name: "Worker" },
  { name: "On the platform" },
  { name: "In Candor" },
  { name: "Pay", kind: "wide" as const },
];

interface Props {
  rows: SubmissionRow[];
  currency: string | null;
  at: At;
  onDone: () => void;
}

/** Every submission: what the platform says, what we know, what is proposed and what was decided. */
export function Submissions({ rows, currency, at, onDone }: Props) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [deciding, setDeciding] = useState(false);
  const choose = (submissions: string[]) => setChosen(new Set(submissions));
  const finished = rows.filter((row) => row.proposal?.pay === "all").map((row) => row.submission);
  const some = rows.map((row) => row.submission).filter((submission) => chosen.has(submission));
  const toggle = (submission: string) =>
    choose(chosen.has(submission) ? some.filter((one) => one !== submission) : [...some, submission]);
  return (
    <section class="recruiting-part" aria-label="Submissions">
      <h2>Submissions</h2>
      {rows.length === 0 && <p class="soft">Nobody has come yet.</p>}
      {rows.length > 0 && (
        <>
          <div class="actions">
            <Button kind="secondary" off={finished.length === 0} onClick={() => choose(finished)}>
              Choose all who finished ({finished.length})
            </Button>
            <Button off={some.length === 0} onClick={() => setDeciding(true)}>
              Review selected ({some.length})
            </Button>
          </div>
          <Table label="Submissions" columns={COLUMNS} cards>
            {rows.map((row) => (
              <tr key={row.submission}>
                <td data-name="Chosen">
                  <input
                    type="checkbox"
                    aria-label={`Choose ${row.submission}`}
                    checked={chosen.has(row.submission)}
                    onChange={() => toggle(row.submission)}
                  />
                </td>
                <td data-name="Submission">
                  <code>{row.submission}</code>
                </td>
                <td data-name="Worker">{row.worker ?? "–"}</td>
                <td data-name="On the platform">{thereOf(row)}</td>
                <td data-name="In Candor">
                  {row.here === null
                    ? "never seen"
                    : `${row.here}, ${row.rated} of ${row.conversations} rated`}
                </td>
                <td data-name="Pay" class="wide">
                  {payOf(row)}
                  {bonusOf(row, currency) && <p class="soft small">{bonusOf(row, currency)}</p>}
                </td>
              </tr>
            ))}
          </Table>
        </>
      )}
      {deciding && (
        <DecisionDialog
          submissions={some}
          replaced={rows.flatMap((row) =>
            row.decision && chosen.has(row.submission) ? [row.decision.number] : [],
          )}
          at={at}
          onClose={() => {
            setDeciding(false);
            choose([]);
            onDone();
          }}
        />
      )}
    </section>
  );
}

const DECIDED: Record<NonNullable<SubmissionRow["decision"]>["decision"], string> = {
  approve: "pay in full",
  reject: "reject",
  partial: "pay in part",
  screen_out: "screen out",
  request_return: "ask to return it",
};

/** Where a submission stands on the platform, in words. */
export function thereOf({ status, paid_share: share }: SubmissionRow): string {
  return share === null || share === 100 ? status.toLowerCase() : `${status.toLowerCase()}, paid ${share} %`;
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
    return `decided: ${DECIDED[decision.decision]}${share}, by ${decision.decided_by}`;
  }
  if (!proposal) return "–";
  if (proposal.pay === "all") return `to be paid: ${proposal.why}`;
  return proposal.pay === "part"
    ? `to be paid ${proposal.share} %: ${proposal.why}`
    : `could be rejected: ${proposal.why}`;
}

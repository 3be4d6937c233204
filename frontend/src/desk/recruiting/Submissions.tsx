import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Menu } from "../../design/Menu";
import { Table } from "../../design/Table";
import { toast } from "../../design/Toast";
import type { SubmissionRow } from "../api_types";
import { useRequest } from "../jobs/useRequest";
import type { At } from "./amounts";
import { CHOICES, type Choice, DecisionDialog } from "./DecisionDialog";
import { bonusOf, isOpen, payOf, thereOf } from "./states";

interface Props {
  rows: SubmissionRow[];
  currency: string | null;
  platform: string;
  /** Whether the study pays those who are screened out. */
  pays: boolean;
  /** Why a submission can be rejected: the platform's categories, with their names. */
  categories: Record<string, string>;
  at: At;
  onDone: () => void;
}

/** What is being decided: about which submissions, and what, where that is chosen already. */
interface Deciding {
  about: SubmissionRow[];
  choice: Choice | null;
}

/** Every submission: what the platform says, what we know, what is proposed, and what was decided. */
export function Submissions({ rows, currency, platform, pays, categories, at, onDone }: Props) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [deciding, setDeciding] = useState<Deciding | null>(null);
  const [approving, setApproving] = useState("");
  const { busy, failure, post } = useRequest();
  const choose = (submissions: string[]) => setChosen(new Set(submissions));
  const finished = rows.filter((row) => row.proposal?.pay === "all").map((row) => row.submission);
  const some = rows.filter((row) => chosen.has(row.submission));
  const toggle = (submission: string) =>
    choose(
      chosen.has(submission) ? [...chosen].filter((one) => one !== submission) : [...chosen, submission],
    );
  const approve = async ({ submission, worker }: SubmissionRow) => {
    setApproving(submission);
    if (await post(at("decisions"), { submissions: [submission], decision: "approve" })) {
      toast(`Approved ${worker ?? submission}`);
    }
    onDone();
  };
  return (
    <section class="recruiting-part" aria-label="Submissions">
      <h2>Submissions</h2>
      {rows.length === 0 && (
        <p class="soft">No submissions yet. They appear here as participants take places on {platform}.</p>
      )}
      {rows.length > 0 && (
        <>
          <div class="actions">
            <Button off={some.length === 0} onClick={() => setDeciding({ about: some, choice: null })}>
              Review selected ({some.length})
            </Button>
            <Button kind="secondary" off={finished.length === 0} onClick={() => choose(finished)}>
              Select all who finished ({finished.length})
            </Button>
          </div>
          <p class="complaint" role="alert">
            {failure}
          </p>
          <Table
            label="Submissions"
            columns={["Select", "Worker", `On ${platform}`, "In Candor", "Pay", "Decision"].map((name) => ({
              name,
              ...(name === "Pay" ? { kind: "wide" as const } : {}),
            }))}
            cards
          >
            {rows.map((row) => (
              <tr key={row.submission}>
                <td data-name="Select">
                  <input
                    type="checkbox"
                    aria-label={`Select ${row.submission}`}
                    checked={chosen.has(row.submission)}
                    onChange={() => toggle(row.submission)}
                  />
                </td>
                <td data-name="Worker">
                  {row.worker ?? "–"}
                  <code class="submission-id">{row.submission}</code>
                </td>
                <td data-name={`On ${platform}`}>{thereOf(row)}</td>
                <td data-name="In Candor">
                  {row.here === null
                    ? "never seen"
                    : `${row.here}, ${row.rated} of ${row.conversations} rated`}
                </td>
                <td data-name="Pay" class="wide">
                  {payOf(row)}
                  {bonusOf(row, currency) && <p class="soft small">{bonusOf(row, currency)}</p>}
                </td>
                <td data-name="Decision">
                  <div class="row-actions">
                    {row.proposal?.pay === "all" && (
                      <Button
                        kind="secondary"
                        busy={busy && approving === row.submission}
                        onClick={() => void approve(row)}
                      >
                        Approve<span class="unseen"> {row.submission}</span>
                      </Button>
                    )}
                    {row.proposal?.pay === "part" && (
                      <Button
                        kind="secondary"
                        onClick={() => setDeciding({ about: [row], choice: "partial" })}
                      >
                        Pay {row.proposal.share} %…<span class="unseen"> {row.submission}</span>
                      </Button>
                    )}
                    <Menu
                      inRow
                      label={`Other decisions about ${row.submission}`}
                      items={choicesOf(row, pays).map(({ value, name, danger }) => ({
                        name: `${name}…`,
                        danger: danger ?? false,
                        onChoose: () => setDeciding({ about: [row], choice: value }),
                      }))}
                    />
                  </div>
                </td>
              </tr>
            ))}
          </Table>
        </>
      )}
      {deciding && (
        <DecisionDialog
          about={deciding.about}
          choice={deciding.choice}
          pays={pays}
          categories={categories}
          currency={currency}
          at={at}
          onClose={() => {
            setDeciding(null);
            choose([]);
            onDone();
          }}
        />
      )}
    </section>
  );
}

/** What can be done about one submission: after it was decided, what the platform still takes. */
function choicesOf(row: SubmissionRow, pays: boolean): (typeof CHOICES)[number][] {
  const hasEnded = !isOpen(row) && row.decision?.decision !== "request_return";
  const still: readonly Choice[] = hasEnded ? ["message", "bonus"] : CHOICES.map(({ value }) => value);
  return CHOICES.filter(({ value }) => still.includes(value) && (pays || value !== "screen_out"));
}

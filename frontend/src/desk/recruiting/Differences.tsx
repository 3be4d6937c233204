import { apiAddress } from "../api";
import type { DifferenceRow, SubmissionRow } from "../api_types";
import type { Action } from "../run/ActionDialog";
import { ActionRows } from "./ActionRows";
import type { At } from "./amounts";
import { lookAt } from "./Bonuses";
import { payOf, thereOf } from "./states";

// `{platform}` is the name of the platform.
const KINDS: Record<DifferenceRow["kind"], string> = {
  decision_not_carried_out: "It was decided what they are paid, and {platform} has not done it.",
  settled_otherwise:
    "{platform} has settled it otherwise than it was decided here, and does not change that. Decide what {platform} has done.",
  left_there: "They have returned it there, or their time has run out; here they still hold a place.",
  finished_after_giving_up:
    "They have finished here; there they have returned it, or their time has run out.",
  not_handed_in: "They have finished here, and have not submitted on the platform.",
  wrong_code: "They have finished here, and submitted with another code.",
  stopped_by_us: "A chatbot failed, so that they could not finish.",
  handed_in_unfinished: "They have submitted on the platform, and have not finished here.",
  never_seen_here: "They have submitted on the platform, and were never seen here.",
  not_known_there: "They name a submission that there is none of.",
  bonus_not_paid: "Bonuses were sent more than an hour ago, and are not all seen paid. Ask {platform}.",
  other_currency:
    "The run’s budget is in another currency than {platform} pays in. Change the budget in the rules of the run.",
};

interface Props {
  rows: DifferenceRow[];
  submissions: SubmissionRow[];
  platform: string;
  at: At;
  onDone: () => void;
}

/** Where the platform and we do not agree: each with what to do about it. */
export function Differences({ rows, submissions, platform, at, onDone }: Props) {
  return (
    <ActionRows
      title="Differences"
      none={`In sync with ${platform}.`}
      rows={rows.map((row) => ({
        key: `${row.kind} ${row.submission} ${row.assignment} ${row.batch}`,
        what: KINDS[row.kind].replaceAll("{platform}", platform),
        more: (
          <>
            {row.batch !== null && `Bonuses ${row.batch}`}
            {(row.submission || row.assignment) && (row.worker ?? "nobody here")}
            {row.submission && (
              <>
                , submission <code>{row.submission}</code>
              </>
            )}
            {row.kind === "settled_otherwise" && (
              <>
                .{" "}
                {settledOtherwise(
                  submissions.find((one) => one.submission === row.submission),
                  platform,
                )}
              </>
            )}
          </>
        ),
        about: row.worker ?? row.submission ?? "",
        actions: remediesOf(row, platform, at),
      }))}
      onDone={onDone}
    />
  );
}

function settledOtherwise(row: SubmissionRow | undefined, platform: string): string {
  if (!row) {
    return "";
  }
  const there = row.paid_share === 100 ? "paid in full" : thereOf(row);
  return `Here: ${payOf(row)}. At ${platform}: ${there}.`;
}

/** What to do about a difference. */
export function remediesOf(row: DifferenceRow, platform: string, at: At): Action[] {
  const remedy = remedyOf(row, platform, at);
  return remedy === null ? [] : [remedy];
}

function remedyOf(row: DifferenceRow, platform: string, at: At): Action | null {
  const submission = row.submission ?? "";
  const assignment = (path: string) =>
    apiAddress(`/api/desk/assignments/{assignment}/${path}`, { assignment: row.assignment ?? "" });
  const decided = (decision: string, more: object = {}) => ({
    method: "POST" as const,
    address: at("decisions"),
    body: { submissions: [submission], decision, ...more },
  });
  const why = (start: string) => ({
    field: "reason",
    label: "What the participant reads",
    start,
    needed: true,
  });
  /** Decides what the platform has paid, where it is known; else it is chosen among the submissions. */
  const paidAsDecided = (share: number | null, instead: object): Action | null => {
    if (share === null) {
      return null;
    }
    const about = `The decision becomes what ${platform} has paid, with your name; nothing else is paid. Pay what is missing as a bonus.`;
    return share === 100
      ? { name: "Decide: paid in full", about, ...decided("approve", instead) }
      : {
          name: `Decide: paid ${share} %`,
          about,
          ...decided("partial", { share, ...instead }),
          words: { ...why(`Paid so at ${platform}.`), label: "Why (for this desk)" },
        };
  };
  switch (row.remedy) {
    case "repeat":
      return {
        name: "Do it now",
        about: `${platform} is asked again. What it has done already is not done twice.`,
        method: "POST",
        address: at("decisions/{submission}/repeat", { submission }),
      };
    case "decide_again":
      return paidAsDecided(row.share, { instead_of: row.decision === null ? [] : [row.decision] });
    case "look":
      return lookAt(row.batch ?? 0, platform, at);
    case "change_budget":
      return null;
    case "release":
      return {
        name: "End session and free the slot",
        about: "The assignment ends here, and its place goes to the next worker. This cannot be undone.",
        method: "POST",
        address: assignment("release"),
      };
    case "approve":
      return {
        name: "Pay in full",
        about: "They have done the work. The decision is kept with your name.",
        ...decided("approve"),
      };
    case "remind":
      return {
        name: "Remind",
        about: `They read it at ${platform}.`,
        method: "POST",
        address: at("messages"),
        body: { submissions: [submission] },
        words: {
          field: "text",
          label: "What the participant reads",
          start: `You have finished our study, thank you! Please hand it in at ${platform}, so that we can pay you.`,
          needed: true,
        },
      };
    case "partial":
      return {
        name: `Pay ${row.share} %`,
        about: "That is the share of the conversations that they rated. The decision is kept with your name.",
        ...decided("partial", { share: row.share }),
        words: why(
          "A chatbot of ours failed, so that you could not finish. We pay you for what you have done.",
        ),
      };
    case "request_return":
      return {
        name: "Ask to return it",
        about: "They are asked to return it, which costs them nothing; a rejection would.",
        ...decided("request_return"),
        words: why("We do not see that you have finished our study. Please return it, or write to us."),
      };
    case "exclude":
      return {
        name: "Leave out of the analysis",
        about: "Its data stay, and you can take it back.",
        method: "PUT",
        address: assignment("exclusion"),
        words: {
          field: "reason",
          label: "Why",
          start: `${platform} knows no such submission.`,
          needed: true,
        },
      };
  }
}

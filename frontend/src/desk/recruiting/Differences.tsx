import { apiAddress } from "../api";
import type { DifferenceRow, SubmissionRow } from "../api_types";
import type { Action } from "../run/ActionDialog";
import { ActionRows } from "./ActionRows";
import type { At } from "./amounts";
import { lookAt } from "./Bonuses";
import { payOf, thereOf } from "./states";

// `{platform}` is the name of the platform.
const KINDS: Record<DifferenceRow["kind"], string> = {
  decision_not_carried_out: "You decided about this pay, and {platform} has not carried it out yet.",
  settled_otherwise:
    "{platform} has settled this otherwise than you decided, and does not change it. Record what {platform} has done.",
  left_there: "Returned or timed out on {platform}, but still holding a slot in Candor.",
  finished_after_giving_up: "Finished in Candor, but returned or timed out on {platform}.",
  not_handed_in: "Finished in Candor, but not submitted on {platform}.",
  wrong_code: "Finished in Candor, but submitted on {platform} with a wrong code.",
  stopped_by_us: "A bot failed, so the worker could not finish.",
  handed_in_unfinished: "Submitted on {platform}, but not finished in Candor.",
  never_seen_here: "Submitted on {platform}, but never seen in Candor.",
  not_known_there: "The worker’s link names a submission that {platform} does not have.",
  bonus_not_paid:
    "Bonuses were sent more than an hour ago, and not all of them were seen paid. Ask {platform}.",
  other_currency:
    "The run’s budget is in another currency than {platform} pays in. Change the budget in the run’s rules.",
};

interface Props {
  rows: DifferenceRow[];
  submissions: SubmissionRow[];
  /** Whether the platform was ever read: before that, no difference is known. */
  synced: boolean;
  platform: string;
  at: At;
  onDone: () => void;
}

/** Where the platform and we do not agree: each with what to do about it. */
export function Differences({ rows, submissions, synced, platform, at, onDone }: Props) {
  return (
    <ActionRows
      title="Differences"
      none={synced ? `In sync with ${platform}.` : `Not synced with ${platform} yet.`}
      rows={rows.map((row) => ({
        key: `${row.kind} ${row.submission} ${row.assignment} ${row.batch}`,
        what: KINDS[row.kind].replaceAll("{platform}", platform),
        more: (
          <>
            {row.batch !== null && `Bonus batch ${row.batch}`}
            {(row.submission || row.assignment) && (row.worker ?? "unknown worker")}
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
  return `In Candor: ${payOf(row)}. On ${platform}: ${there}.`;
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
    label: "Message to the participant",
    start,
    needed: true,
  });
  /** Decides what the platform has paid, where it is known; else it is chosen among the submissions. */
  const paidAsDecided = (share: number | null, instead: object): Action | null => {
    if (share === null) {
      return null;
    }
    const about = `The decision becomes what ${platform} has paid, with your name. Nothing else is paid; pay the rest as a bonus.`;
    return share === 100
      ? { name: "Record: paid in full", about, ...decided("approve", instead) }
      : {
          name: `Record: paid ${share} %`,
          about,
          ...decided("partial", { share, ...instead }),
          words: { ...why(`Paid on ${platform}.`), label: "Note for this desk" },
        };
  };
  switch (row.remedy) {
    case "repeat":
      return {
        name: "Try again",
        about: `The decision is sent to ${platform} again. Nothing is done twice.`,
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
        about: "The session ends, and its slot goes to the next worker. This cannot be undone.",
        method: "POST",
        address: assignment("release"),
      };
    case "approve":
      return {
        name: "Approve",
        about: "The worker has finished. The decision is stored with your name.",
        ...decided("approve"),
      };
    case "remind":
      return {
        name: "Remind",
        about: `${platform} sends the message to the participant.`,
        method: "POST",
        address: at("messages"),
        body: { submissions: [submission] },
        words: {
          field: "text",
          label: "Message to the participant",
          start: `You have finished our study, thank you! Please submit it on ${platform}, so that we can pay you.`,
          needed: true,
        },
      };
    case "partial":
      return {
        name: `Pay ${row.share} %`,
        about:
          "This is the share of the conversations that they rated. The decision is stored with your name.",
        ...decided("partial", { share: row.share }),
        words: why("One of our chatbots failed, so you could not finish. We pay you for what you have done."),
      };
    case "request_return":
      return {
        name: "Ask to return it",
        about:
          "The participant is asked to return the submission. Unlike a rejection, that does not count against them.",
        ...decided("request_return"),
        words: why(
          "We can’t see that you finished our study. Please return your submission, or write to us.",
        ),
      };
    case "exclude":
      return {
        name: "Leave out of the analysis",
        about: "Its data stay, and you can undo this.",
        method: "PUT",
        address: assignment("exclusion"),
        words: {
          field: "reason",
          label: "Why",
          start: `${platform} has no such submission.`,
          needed: true,
        },
      };
  }
}

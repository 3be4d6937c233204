import { useId, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { TextField } from "../../design/TextField";
import { toast } from "../../design/Toast";
import type { SubmissionRow } from "../api_types";
import { useRequest } from "../jobs/useRequest";
import { type At, centsOf, typedNumber } from "./amounts";

export type Choice = "approve" | "partial" | "screen_out" | "request_return" | "message" | "bonus" | "reject";
/** What can be decided, and what is said once it is done. */
export const CHOICES: readonly { value: Choice; name: string; done: string; danger?: boolean }[] = [
  { value: "approve", name: "Approve", done: "Approved" },
  { value: "partial", name: "Pay in part", done: "Paid in part" },
  { value: "bonus", name: "Prepare a bonus", done: "Bonus prepared: pay it below" },
  { value: "screen_out", name: "Screen out and pay", done: "Screened out" },
  { value: "request_return", name: "Ask to return it", done: "Asked to return it" },
  { value: "message", name: "Send a message", done: "Message sent" },
  { value: "reject", name: "Reject", done: "Rejected", danger: true },
];
const SHORTEST = 100;

interface Props {
  about: SubmissionRow[];
  /** What to do with them, where that is chosen already. */
  choice: Choice | null;
  /** Whether the study pays those who are screened out. */
  pays: boolean;
  /** Why a submission can be rejected: the platform's categories, with their names. */
  categories: Record<string, string>;
  /** The platform's currency; none where it has not said which. */
  currency: string | null;
  at: At;
  onClose: () => void;
}

/** Asks for a decision about submissions, checks it against the platform's rules, and carries it out. */
export function DecisionDialog({ about, choice: given, pays, categories, currency, at, onClose }: Props) {
  const [choice, setChoice] = useState<Choice>(given ?? "approve");
  const [text, setText] = useState("");
  const [number, setNumber] = useState(shareOf(about));
  const [category, setCategory] = useState(Object.keys(categories)[0] ?? "");
  const [complaint, setComplaint] = useState("");
  const { busy, failure, post } = useRequest();
  // What was read when this was opened, not what is read meanwhile: who decides now decides instead of that.
  const [replaced] = useState(about.flatMap(({ decision }) => (decision ? [decision.number] : [])));
  const id = useId();
  const submissions = about.map(({ submission }) => submission);
  const chosen = CHOICES.find(({ value }) => value === choice);
  const wrong = wrongWith(choice, text.trim(), typedNumber(number));
  const submit = async (event: Event) => {
    event.preventDefault();
    setComplaint(wrong);
    if (busy || wrong) {
      return;
    }
    const [path, body] = asked(choice, submissions, text.trim(), typedNumber(number), category);
    const more = path === "decisions" ? { instead_of: replaced } : {};
    if (await post(at(path), { ...body, ...more }, "Prepare")) {
      toast(`${chosen?.done}${about.length > 1 ? ` (${about.length})` : ""}`);
      onClose();
    }
  };
  const [one] = about;
  const whose = about.length === 1 ? (one?.worker ?? one?.submission) : `${about.length} submissions`;
  return (
    <Dialog
      title={given === null ? `Review selected (${about.length})` : `${chosen?.name}: ${whose}`}
      onClose={onClose}
    >
      <form class="flow-form" onSubmit={(event) => void submit(event)}>
        {given === null && (
          <div class="field">
            <label class="label" for={`${id}-what`}>
              Decision
            </label>
            <select
              id={`${id}-what`}
              class="input"
              value={choice}
              onChange={(event) => setChoice(event.currentTarget.value as Choice)}
            >
              {CHOICES.filter(({ value }) => pays || value !== "screen_out").map(({ value, name }) => (
                <option key={value} value={value}>
                  {name}
                </option>
              ))}
            </select>
          </div>
        )}
        {choice === "reject" && (
          <div class="field">
            <label class="label" for={`${id}-category`}>
              Reason
            </label>
            <select
              id={`${id}-category`}
              class="input"
              value={category}
              onChange={(event) => setCategory(event.currentTarget.value)}
            >
              {Object.entries(categories).map(([value, name]) => (
                <option key={value} value={value}>
                  {name}
                </option>
              ))}
            </select>
          </div>
        )}
        {choice === "partial" && (
          <TextField label="Per cent of the reward" hint="From 8 to 99." value={number} onValue={setNumber} />
        )}
        {choice === "bonus" && (
          <TextField
            label={currency === null ? "Bonus for each" : `Bonus for each (${currency})`}
            hint="Such as 1.50."
            value={number}
            onValue={setNumber}
          />
        )}
        <div class="field">
          <label class="label" for={`${id}-text`}>
            {LABELS[choice]}
          </label>
          <textarea
            id={`${id}-text`}
            class="input"
            rows={4}
            value={text}
            aria-describedby={`${id}-hint`}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <p class="soft small" id={`${id}-hint`}>
            {choice === "reject" &&
              `${text.trim().length} of at least ${SHORTEST} characters. A rejection counts against the participant.`}
            {choice === "bonus" &&
              "Nothing is paid yet. A submission gets at most one bonus for each purpose."}
          </p>
        </div>
        <p class="complaint" role="alert">
          {complaint || failure}
        </p>
        <div class="actions">
          <Button kind="secondary" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" kind={chosen?.danger ? "danger" : "primary"} busy={busy}>
            {chosen?.name}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

const LABELS: Record<Choice, string> = {
  approve: "Note for this desk (optional)",
  screen_out: "Note for this desk (optional)",
  partial: "Message to the participant",
  request_return: "Message to the participant",
  reject: "Message to the participant",
  message: "Message to the participant",
  bonus: "Purpose",
};

/** The share that is proposed for a single submission; nothing where none is. */
function shareOf(about: SubmissionRow[]): string {
  const share = about.length === 1 ? about[0]?.proposal?.share : null;
  return share ? String(share) : "";
}

/** What is wrong with a decision, by the platform's rules; empty where nothing is. */
export function wrongWith(choice: Choice, text: string, number: number): string {
  if (choice === "reject" && text.length < SHORTEST) {
    return `A rejection needs ${SHORTEST} characters: say what was asked, what was done instead, and how they can answer.`;
  }
  if (choice === "partial" && !(Number.isInteger(number) && number >= 8 && number <= 99)) {
    return "Enter a whole number from 8 to 99.";
  }
  if (choice === "bonus" && !(number > 0)) {
    return "Enter how much each of them gets.";
  }
  return choice !== "approve" && choice !== "screen_out" && text === "" ? "Write something first." : "";
}

function asked(
  choice: Choice,
  submissions: string[],
  text: string,
  number: number,
  category: string,
): [string, object] {
  switch (choice) {
    case "message":
      return ["messages", { submissions, text }];
    case "bonus": {
      const cents = centsOf(String(number));
      return [
        "bonuses",
        { purpose: text, cents: Object.fromEntries(submissions.map((one) => [one, cents])) },
      ];
    }
    case "partial":
      return ["decisions", { submissions, decision: choice, reason: text, share: number }];
    case "reject":
      return ["decisions", { submissions, decision: choice, reason: text, category }];
    default:
      return ["decisions", { submissions, decision: choice, reason: text }];
  }
}

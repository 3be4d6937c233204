import { useId, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { useRequest } from "../jobs/useRequest";
import { type At, centsOf, typedNumber } from "./amounts";

const CHOICES = [
  { value: "approve", name: "Pay in full" },
  { value: "partial", name: "Pay in part" },
  { value: "screen_out", name: "Screen out, paid" },
  { value: "request_return", name: "Ask to return it" },
  { value: "reject", name: "Reject" },
  { value: "message", name: "Write to them" },
  { value: "bonus", name: "Prepare a bonus" },
] as const;
type Choice = (typeof CHOICES)[number]["value"];
const CATEGORIES = [
  "LOW_EFFORT",
  "FAILED_INSTRUCTIONS",
  "FAILED_CHECK",
  "TOO_QUICKLY",
  "TOO_SLOWLY",
  "MALINGERING",
  "NO_CODE",
  "BAD_CODE",
  "NO_DATA",
  "INCOMP_LONGITUDINAL",
  "UNSUPP_DEVICE",
  "OTHER",
];
const SHORTEST = 100;

interface Props {
  submissions: string[];
  /** The numbers of what was decided of them, as it is shown: who decides now decides instead of that. */
  replaced: number[];
  at: At;
  onClose: () => void;
}

/** Asks what becomes of some submissions, checks it against the platform's rules, and has it done. */
export function DecisionDialog({ submissions, replaced, at, onClose }: Props) {
  const [choice, setChoice] = useState<Choice>("approve");
  const [text, setText] = useState("");
  const [number, setNumber] = useState("");
  const [category, setCategory] = useState("LOW_EFFORT");
  const [complaint, setComplaint] = useState("");
  const { busy, failure, post } = useRequest();
  const [known] = useState(replaced); // what was read when this was opened, not what is read meanwhile
  const id = useId();
  const wrong = wrongWith(choice, text.trim(), typedNumber(number));
  const submit = async (event: Event) => {
    event.preventDefault();
    setComplaint(wrong);
    if (busy || wrong) {
      return;
    }
    const [path, body] = asked(choice, submissions, text.trim(), typedNumber(number), category);
    const more = path === "decisions" ? { instead_of: known } : {};
    if (await post(at(path), { ...body, ...more }, "Prepare")) {
      onClose();
    }
  };
  const needsNumber = choice === "partial" || choice === "bonus";
  return (
    <Dialog title={`Review selected (${submissions.length})`} onClose={onClose}>
      <form class="flow-form" onSubmit={(event) => void submit(event)}>
        <div class="field">
          <label class="label" for={`${id}-what`}>
            What becomes of them
          </label>
          <select
            id={`${id}-what`}
            class="input"
            value={choice}
            onChange={(event) => setChoice(event.currentTarget.value as Choice)}
          >
            {CHOICES.map(({ value, name }) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </div>
        {choice === "reject" && (
          <div class="field">
            <label class="label" for={`${id}-category`}>
              Category
            </label>
            <select
              id={`${id}-category`}
              class="input"
              value={category}
              onChange={(event) => setCategory(event.currentTarget.value)}
            >
              {CATEGORIES.map((name) => (
                <option key={name} value={name}>
                  {name.replaceAll("_", " ").toLowerCase()}
                </option>
              ))}
            </select>
          </div>
        )}
        {needsNumber && (
          <div class="field">
            <label class="label" for={`${id}-number`}>
              {choice === "partial" ? "Per cent of the reward (8 to 99)" : "Bonus for each, like 1.50"}
            </label>
            <input
              id={`${id}-number`}
              class="input"
              inputMode="decimal"
              value={number}
              onInput={(event) => setNumber(event.currentTarget.value)}
            />
          </div>
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
            onInput={(event) => setText(event.currentTarget.value)}
          />
          {choice === "reject" && (
            <p class="soft small">
              {text.trim().length} of {SHORTEST} characters at least. A rejection hurts a participant’s
              standing.
            </p>
          )}
        </div>
        <p class="complaint" role="alert">
          {complaint || failure}
        </p>
        <div class="actions">
          <Button kind="secondary" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" busy={busy}>
            {CHOICES.find(({ value }) => value === choice)?.name}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

const LABELS: Record<Choice, string> = {
  approve: "Why (for this desk; may be empty)",
  screen_out: "Why (for this desk; may be empty)",
  partial: "What the participants read",
  request_return: "What the participants read",
  reject: "What the participants read",
  message: "What the participants read",
  bonus: "What for: nobody gets two bonuses of one purpose",
};

/** What is wrong with a decision, by the platform's rules; empty where nothing is. */
export function wrongWith(choice: Choice, text: string, number: number): string {
  if (choice === "reject" && text.length < SHORTEST) {
    return `A rejection needs ${SHORTEST} characters: what was asked, what was done instead, how they can answer.`;
  }
  if (choice === "partial" && !(Number.isInteger(number) && number >= 8 && number <= 99)) {
    return "In part, 8 to 99 per cent can be paid.";
  }
  if (choice === "bonus" && !(number > 0)) {
    return "Write how much each of them gets.";
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

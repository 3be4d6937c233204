import { Check, CircleX, TriangleAlert } from "lucide";
import { Icon } from "../../design/Icon";
import type { Finding } from "../api_types";

const MARKS = { pass: Check, warn: TriangleAlert, fail: CircleX };
const NAMES: Record<Finding["verdict"], string> = { pass: "Passed:", warn: "Warning:", fail: "Failed:" };

/** What a check found: failures and warnings at once, what passed folded away. */
export function Findings({ findings }: { findings: Finding[] }) {
  const fine = findings.filter(({ verdict }) => verdict === "pass");
  const notable = findings.filter(({ verdict }) => verdict !== "pass");
  return (
    <div class="bot-findings small">
      <Answers findings={notable} />
      {fine.length > 0 && (
        <details>
          <summary>{`${fine.length} of ${findings.length} questions passed`}</summary>
          <Answers findings={fine} />
        </details>
      )}
    </div>
  );
}

/** Questions with their answers, each with its verdict. */
export function Answers({ findings }: { findings: Finding[] }) {
  return (
    <ul class="bot-answers">
      {findings.map(({ question, verdict, reason }) => (
        <li key={question} class={`bot-answer bot-answer-${verdict}`}>
          <Icon of={MARKS[verdict]} />
          <span>
            <span class="unseen">{NAMES[verdict]} </span>
            <strong>{question}</strong> {reason}
          </span>
        </li>
      ))}
    </ul>
  );
}

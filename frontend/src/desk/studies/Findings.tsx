import type { Finding } from "../api_types";

const MARKS: Record<Finding["verdict"], string> = { pass: "✓", warn: "to know:", fail: "not fit:" };

/** What a check found: what is to be mended or known at once, the answers that are fine folded away. */
export function Findings({ findings }: { findings: Finding[] }) {
  const fine = findings.filter(({ verdict }) => verdict === "pass");
  const notable = findings.filter(({ verdict }) => verdict !== "pass");
  return (
    <div class="study-findings small">
      <Answers findings={notable} />
      {fine.length > 0 && (
        <details>
          <summary>{`${fine.length} of ${findings.length} questions passed: what was found`}</summary>
          <Answers findings={fine} />
        </details>
      )}
    </div>
  );
}

/** Questions with their answers, each with its verdict. */
export function Answers({ findings }: { findings: Finding[] }) {
  return (
    <ul class="study-answers">
      {findings.map(({ question, verdict, reason }) => (
        <li key={question}>
          <span class={verdict === "fail" ? "complaint" : "soft"}>{MARKS[verdict]}</span> {question} {reason}
        </li>
      ))}
    </ul>
  );
}

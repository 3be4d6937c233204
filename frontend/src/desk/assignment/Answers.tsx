import { useId } from "preact/hooks";
import type { ConversationDetail } from "../api_types";

type Given = ConversationDetail["answers"];

/** What a worker answered to a questionnaire; nothing where none was submitted. */
export function Answers({ title, answers }: { title: string; answers: Given }) {
  const id = useId();
  return (
    answers.length > 0 && (
      <section class="box" aria-labelledby={id}>
        <h2 id={id}>{title}</h2>
        <AnswerList answers={answers} />
      </section>
    )
  );
}

/** Questions with what was answered. */
export function AnswerList({ answers }: { answers: Given }) {
  return (
    <dl class="answers">
      {answers.map(({ label, question, answers: given }) => (
        <div key={label}>
          <dt>
            {question} <code class="soft">{label}</code>
          </dt>
          <dd class="said">{given.join(", ")}</dd>
        </div>
      ))}
    </dl>
  );
}

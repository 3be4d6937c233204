import { AnswerField, faultOf } from "./AnswerField";
import type { AnswerValue } from "./answer_kinds";
import type { AskedQuestion } from "./session/protocol";

export type Answers = Record<string, AnswerValue>;

interface Props {
  /** Tells the fields of several lists on a page apart. */
  name: string;
  asked: readonly AskedQuestion[];
  answers: Answers;
  onChange: (answers: Answers) => void;
  /** Whether the worker has tried to go on, so that what is missing is shown. */
  tried: boolean;
}

/** Questions of a study's own, one card each. */
export function Questions({ name, asked, answers, onChange, tried }: Props) {
  return (
    <ol class="statements">
      {asked.map((question, index) => {
        const { label, required } = question;
        return (
          <AnswerField
            key={label}
            id={`${name}-${index}`}
            asked={question.question}
            form={question}
            value={answers[label]}
            onChange={(value) => onChange(changed(answers, label, value))}
            fault={faultOf(question, answers[label], required)}
            tried={tried}
            optional={!required}
          />
        );
      })}
    </ol>
  );
}

/** The answers with this one changed, or taken away. */
export function changed(answers: Answers, label: string, value: AnswerValue | undefined): Answers {
  const { [label]: _, ...others } = answers;
  return value === undefined ? others : { ...others, [label]: value };
}

/** The questions that keep the worker from going on. */
export function faulty(asked: readonly AskedQuestion[], answers: Answers): readonly AskedQuestion[] {
  return asked.filter((question) => faultOf(question, answers[question.label], question.required) !== null);
}

/** The answers to these questions, as they are sent: without texts of blanks. */
export function toSend(asked: readonly { label: string }[], answers: Answers): Answers {
  const given = asked.flatMap(({ label }) => {
    const value = answers[label];
    const said = typeof value === "string" ? value.trim() : value;
    return said === undefined || said === "" ? [] : [[label, said] as const];
  });
  return Object.fromEntries(given);
}

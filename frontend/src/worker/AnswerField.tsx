import { ANSWER_TYPES, type AnswerValue, type Fault, type FieldProps } from "./answer_kinds";
import { useTexts } from "./hooks";
import type { AnswerForm } from "./session/protocol";

interface Props extends Omit<FieldProps, "complaint"> {
  /** The mistake in the value as it stands. */
  fault: Fault | null;
  /** Whether the worker has tried to continue, so that the mistake is shown. */
  tried: boolean;
}

/** A question, or a statement, with its answer: one card of a list. */
export function AnswerField({ fault, tried, ...props }: Props) {
  const { say } = useTexts();
  const { Field } = ANSWER_TYPES[props.form.kind];
  const complaint = tried && fault ? say(fault.key, fault.values) : null;
  return (
    <li
      class={`statement ${complaint ? "statement-missing" : ""}`}
      data-missing={fault ? "" : undefined}
      translate={false}
    >
      <Field {...props} complaint={complaint} />
    </li>
  );
}

/** Returns the mistake in an answer as it stands; null if the worker may continue. */
export function faultOf(form: AnswerForm, value: AnswerValue | undefined, required: boolean): Fault | null {
  if (value === undefined || (typeof value === "string" && !value.trim())) {
    return required ? { key: "rating.missing" } : null;
  }
  return ANSWER_TYPES[form.kind].fault(form, value);
}

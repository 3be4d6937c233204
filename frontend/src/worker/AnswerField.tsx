import type { ComponentChildren } from "preact";
import { CheckCards } from "../design/CheckCards";
import { Points } from "../design/Points";
import { RadioCards } from "../design/RadioCards";
import { Slider } from "../design/Slider";
import { MAX_ANSWER } from "./limits";
import type { AnswerForm } from "./session/protocol";

/** What a question is answered with: a number, a text, or several of the choices. */
export type AnswerValue = number | string | string[];

interface Props {
  id: string;
  /** What is asked, or the statement that is rated. */
  asked: string;
  form: AnswerForm;
  value: AnswerValue | undefined;
  onChange: (value: AnswerValue | undefined) => void;
  /** What is wrong with the value as it stands. */
  fault: string | null;
  /** Whether the worker has tried to go on, so that it is told. */
  tried: boolean;
  optional: boolean;
  /** Whether it is a statement that workers agree with: what the ends of its scale mean by themselves. */
  agreement?: boolean;
}

const AGREEMENT = ["strongly disagree", "strongly agree"];

interface Told extends Props {
  complaint: string | null;
}

/** A question, or a statement, with what it is answered by: one card of a list. */
export function AnswerField(props: Props) {
  const { fault, form, tried } = props;
  const inCards = form.kind === "choice" || form.kind === "choices";
  const complaint = tried ? fault : null;
  return (
    <li class={`statement ${complaint ? "statement-missing" : ""}`} data-missing={fault ? "" : undefined}>
      {inCards ? <Choices {...props} complaint={complaint} /> : <Field {...props} complaint={complaint} />}
      {complaint && !inCards && (
        <p class="complaint" id={`${props.id}-complaint`}>
          {complaint}
        </p>
      )}
    </li>
  );
}

function Choices({ asked, form, value, onChange, complaint, optional }: Told) {
  const legend = <Asked optional={optional}>{asked}</Asked>;
  if (form.kind === "choices") {
    return (
      <CheckCards
        legend={legend}
        choices={form.choices}
        values={Array.isArray(value) ? value : []}
        onChange={(values) => onChange(values.length > 0 ? values : undefined)}
        complaint={complaint}
      />
    );
  }
  return (
    <RadioCards
      legend={legend}
      choices={form.choices.map((choice) => ({ value: choice, label: choice }))}
      value={typeof value === "string" ? value : null}
      onChange={onChange}
      complaint={complaint}
    />
  );
}

function Field({ id, asked, form, value, onChange, complaint, optional, agreement }: Told) {
  const ends = form.ends ?? (agreement ? AGREEMENT : null);
  const number = typeof value === "number" ? value : null;
  if (form.kind === "slider") {
    return (
      <>
        <p id={id} class="statement-text">
          <Asked optional={optional}>{asked}</Asked>
        </p>
        <Slider labelledBy={id} value={number} onChange={onChange} ends={form.ends} />
        <p class="slider-ends" aria-hidden="true">
          <span>{ends?.[0]}</span>
          <span>{ends?.[1]}</span>
        </p>
      </>
    );
  }
  if (form.kind === "likert") {
    return (
      <>
        <p id={id} class="statement-text">
          <Asked optional={optional}>{asked}</Asked>
        </p>
        <Points
          labelledBy={id}
          points={form.points ?? 2}
          ends={ends}
          value={number}
          onChange={onChange}
          wrong={complaint !== null}
        />
      </>
    );
  }
  const common = {
    id,
    class: "input",
    value: typeof value === "object" ? "" : (value ?? ""),
    "aria-invalid": complaint ? ("true" as const) : undefined,
    "aria-describedby": complaint ? `${id}-complaint` : undefined,
  };
  return (
    <div class="field">
      <label class="label" for={id}>
        <Asked optional={optional}>{asked}</Asked>
      </label>
      {form.kind === "number" ? (
        <input
          {...common}
          type="number"
          inputMode="decimal"
          step="any"
          min={form.least ?? undefined}
          max={form.most ?? undefined}
          onInput={({ currentTarget }) =>
            onChange(currentTarget.value === "" ? undefined : currentTarget.valueAsNumber)
          }
        />
      ) : (
        <textarea
          {...common}
          rows={3}
          dir="auto"
          maxLength={MAX_ANSWER}
          onInput={({ currentTarget }) => onChange(currentTarget.value || undefined)}
        />
      )}
    </div>
  );
}

function Asked({ children, optional }: { children: ComponentChildren; optional: boolean }) {
  return (
    <>
      {children} {optional && <span class="soft asked-optional">(optional)</span>}
    </>
  );
}

/** What is wrong with an answer as it stands; null where the worker may go on. */
export function faultOf(form: AnswerForm, value: AnswerValue | undefined, required: boolean): string | null {
  if (value === undefined || (typeof value === "string" && !value.trim())) {
    return required ? "Please answer this one, too." : null;
  }
  if (form.kind === "number" && typeof value === "number") {
    const { least, most } = form;
    if ((least !== null && value < least) || (most !== null && value > most)) {
      return range(least, most);
    }
  }
  return null;
}

function range(least: number | null, most: number | null): string {
  if (least === null) {
    return `Please give a number of at most ${most}.`;
  }
  return most === null
    ? `Please give a number of at least ${least}.`
    : `Please give a number from ${least} to ${most}.`;
}

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { CheckCards } from "../design/CheckCards";
import { Points } from "../design/Points";
import { RadioCards } from "../design/RadioCards";
import { Slider } from "../design/Slider";
import { bandOf } from "../design/scale";
import { numberIn, typedIn } from "../shared/numbers";
import { useTexts } from "./hooks";
import { MAX_ANSWER, roomIn } from "./limits";
import type { AnswerForm } from "./session/protocol";
import type { TextKey, Texts, Values } from "./texts/words";

/**
 * What a question is answered with: a number, a text, or several of the choices. Where a number is asked for, a text is
 * what was typed and is no number.
 */
export type AnswerValue = number | string | string[];

/** What is wrong with an answer: a text of the page, and what is put into it. */
export interface Fault {
  key: TextKey;
  values?: Values;
}

interface Props {
  id: string;
  /** What is asked, or the statement that is rated. */
  asked: string;
  form: AnswerForm;
  value: AnswerValue | undefined;
  onChange: (value: AnswerValue | undefined) => void;
  /** What is wrong with the value as it stands. */
  fault: Fault | null;
  /** Whether the worker has tried to go on, so that it is told. */
  tried: boolean;
  optional: boolean;
  /** Whether it is a statement that workers agree with: what the ends of its scale mean by themselves. */
  agreement?: boolean;
}

interface Told extends Props {
  complaint: string | null;
}

/** A question, or a statement, with what it is answered by: one card of a list. */
export function AnswerField(props: Props) {
  const { fault, form, tried } = props;
  const inCards = form.kind === "choice" || form.kind === "choices";
  const { say } = useTexts();
  const complaint = tried && fault ? say(fault.key, fault.values) : null;
  return (
    <li
      class={`statement ${complaint ? "statement-missing" : ""}`}
      data-missing={fault ? "" : undefined}
      translate={false}
    >
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
  const texts = useTexts();
  const { say } = texts;
  const ends = form.ends ?? (agreement ? [say("scale.low"), say("scale.high")] : null);
  const number = typeof value === "number" ? value : null;
  if (form.kind === "slider") {
    return (
      <>
        <p id={id} class="statement-text" dir="auto">
          <Asked optional={optional}>{asked}</Asked>
        </p>
        <Slider labelledBy={id} value={number} words={spoken(texts, number, form.ends)} onChange={onChange} />
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
        <p id={id} class="statement-text" dir="auto">
          <Asked optional={optional}>{asked}</Asked>
        </p>
        <Points
          labelledBy={id}
          points={form.points ?? 2}
          ends={ends}
          value={number}
          onChange={onChange}
          say={(now, words) =>
            words === null
              ? say("scale.point", { now, all: form.points ?? 2 })
              : say("scale.point_end", { now, all: form.points ?? 2, words })
          }
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
        <NumberInput {...common} value={value} onChange={onChange} mayBeNegative={(form.least ?? -1) < 0} />
      ) : (
        <textarea
          {...common}
          rows={3}
          dir="auto"
          onInput={({ currentTarget }) => onChange(currentTarget.value || undefined)}
        />
      )}
    </div>
  );
}

interface NumberInputProps {
  id: string;
  value: AnswerValue | undefined;
  onChange: (value: AnswerValue | undefined) => void;
  mayBeNegative: boolean;
}

/**
 * A number as text: a browser's own field for numbers hides what it does not understand, and a turn of the wheel changes
 * it. What is typed stays in sight as it is.
 */
function NumberInput({ value, onChange, mayBeNegative, ...others }: NumberInputProps) {
  const { language } = useTexts();
  const [typed, setTyped] = useState(
    typeof value === "number" ? typedIn(value, language) : String(value ?? ""),
  );
  return (
    <input
      {...others}
      value={typed}
      inputMode={mayBeNegative ? undefined : "decimal"} // the decimal keys of a phone may have no minus
      autocomplete="off"
      onInput={({ currentTarget }) => {
        setTyped(currentTarget.value);
        onChange(numberIn(currentTarget.value, language) ?? (currentTarget.value.trim() || undefined));
      }}
    />
  );
}

/** A slider's value in words, for who cannot see it. */
function spoken({ say }: Texts, value: number | null, ends: readonly string[] | null): string {
  return ends === null || value === null
    ? say(`scale.${bandOf(value)}`)
    : say("scale.between", { now: value, low: ends[0] ?? "", high: ends[1] ?? "" });
}

function Asked({ children, optional }: { children: ComponentChildren; optional: boolean }) {
  const { say } = useTexts();
  return (
    <>
      {children} {optional && <span class="soft asked-optional">{say("question.optional")}</span>}
    </>
  );
}

/** What is wrong with an answer as it stands; null where the worker may go on. */
export function faultOf(form: AnswerForm, value: AnswerValue | undefined, required: boolean): Fault | null {
  if (value === undefined || (typeof value === "string" && !value.trim())) {
    return required ? { key: "rating.missing" } : null;
  }
  if (form.kind === "number" && typeof value === "string") {
    return { key: "question.number", values: { example: 7.5 } };
  }
  if (typeof value === "string" && roomIn(value, MAX_ANSWER) < 0) {
    return { key: "common.too_long", values: { n: -roomIn(value, MAX_ANSWER) } };
  }
  if (form.kind === "number" && typeof value === "number") {
    const { least, most } = form;
    if ((least !== null && value < least) || (most !== null && value > most)) {
      return range(least, most);
    }
  }
  return null;
}

function range(least: number | null, most: number | null): Fault {
  if (least === null) {
    return { key: "question.at_most", values: { most: most ?? 0 } };
  }
  return most === null
    ? { key: "question.at_least", values: { least } }
    : { key: "question.between", values: { least, most } };
}

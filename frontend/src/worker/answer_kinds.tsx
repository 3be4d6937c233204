import type { ComponentChildren, FunctionComponent } from "preact";
import { createContext } from "preact";
import { useContext, useState } from "preact/hooks";
import { CheckCards } from "../design/CheckCards";
import type { TextLine } from "../design/marks";
import { Points } from "../design/Points";
import { RadioCards } from "../design/RadioCards";
import { Slider } from "../design/Slider";
import { bandOf } from "../design/scale";
import { type MarkerWords, TextMarker } from "../design/TextMarker";
import { numberIn, typedIn } from "../shared/numbers";
import { useTexts } from "./hooks";
import { MAX_ANSWER, roomIn } from "./limits";
import type { AnswerForm, CriterionCard, ItemContent, Mark, TurnCard } from "./session/protocol";
import type { TextKey, Texts, Values } from "./texts/words";

/**
 * The answer to a question: a number, a text, several of the choices, or marks. Where a number is expected, a text is
 * what was typed and is no number.
 */
export type AnswerValue = number | string | string[] | Mark[];

/** The texts that questions are about. */
export interface Shown {
  output: TextLine[];
  context: TextLine[];
}

export const ShownTexts = createContext<Shown>({ output: [], context: [] });

/** The texts of an item. */
export function shownOf({ text, context, paragraphs, lines }: ItemContent): Shown {
  const whole = (...texts: (string | null)[]) =>
    texts.flatMap((words, line) => (words === null ? [] : [{ line, text: words, markable: true }]));
  return {
    output: text === null ? linesOf(lines) : whole(text),
    context: paragraphs.length > 0 ? whole(...paragraphs) : whole(context),
  };
}

/** A conversation, in which the lines of the chatbot are marked. */
export function linesOf(
  lines: readonly (Pick<TurnCard, "author" | "text"> & { turn?: number })[],
): TextLine[] {
  return lines.map(({ author, text, turn }, index) => ({
    line: turn ?? index,
    text,
    markable: author === "bot",
  }));
}

/** Whether a question can be answered about these texts. */
export function isAsked(form: AnswerForm, shown: Shown): boolean {
  return (
    form.kind !== "span" || markedIn(form, shown).some(({ text, markable }) => markable && /\S/u.test(text))
  );
}

function markedIn({ text }: AnswerForm, shown: Shown): TextLine[] {
  return text === "output" || text === "context"
    ? shown[text]
    : [{ line: 0, text: text ?? "", markable: true }];
}

/** The mistake in an answer: a text of the page, and the values to put into it. */
export interface Fault {
  key: TextKey;
  values?: Values;
}

export interface FieldProps {
  id: string;
  /** The question, or the statement that is rated. */
  asked: string;
  form: AnswerForm;
  value: AnswerValue | undefined;
  onChange: (value: AnswerValue | undefined) => void;
  optional: boolean;
  /** Whether it is a statement that workers agree with: its scale then has ends without being given any. */
  agreement?: boolean;
  /** The mistake in words, once the worker has tried to continue. */
  complaint: string | null;
}

/** Sliders or buttons; `scales` stands for anything else, and for several kinds at once. */
type JudgedOn = "sliders" | "buttons" | "scales";

interface AnswerType {
  /** Whether answers are numbers on a scale, so that a criterion of this kind is rated. */
  isRated: boolean;
  /** What workers answer it on, in the texts that speak of all statements at once. */
  on: JudgedOn;
  /** Draws the question with its answer and the complaint. */
  Field: FunctionComponent<FieldProps>;
  /** Returns the mistake in an answer that is there; null if there is none. */
  fault: (form: AnswerForm, value: AnswerValue) => Fault | null;
}

/** The kinds of answers. The compiler refuses a kind of the server's that is missing here. */
export const ANSWER_TYPES: Record<AnswerForm["kind"], AnswerType> = {
  slider: { isRated: true, on: "sliders", Field: SliderField, fault: () => null },
  likert: { isRated: true, on: "buttons", Field: LikertField, fault: () => null },
  choice: { isRated: false, on: "buttons", Field: ChoiceField, fault: () => null },
  choices: { isRated: false, on: "buttons", Field: ChoicesField, fault: () => null },
  number: { isRated: false, on: "scales", Field: NumberField, fault: numberFault },
  text: { isRated: false, on: "scales", Field: TextField, fault: textFault },
  span: { isRated: false, on: "scales", Field: SpanField, fault: spanFault },
};

/** What workers judge all statements on. */
export function judgedOn(criteria: readonly CriterionCard[]): JudgedOn {
  const [first = "sliders", ...others] = criteria.map(
    ({ scale }) => ANSWER_TYPES[scale?.kind ?? "slider"].on,
  );
  return others.every((on) => on === first) ? first : "scales";
}

function SliderField(props: FieldProps) {
  const { id, form, value, onChange, agreement } = props;
  const texts = useTexts();
  const number = typeof value === "number" ? value : null;
  const ends = endsOf(form, agreement, texts);
  return (
    <>
      <Statement {...props} />
      <Slider labelledBy={id} value={number} words={spoken(texts, number, form.ends)} onChange={onChange} />
      <p class="slider-ends" aria-hidden="true">
        <span>{ends?.[0]}</span>
        <span>{ends?.[1]}</span>
      </p>
      <Complaint {...props} />
    </>
  );
}

function LikertField(props: FieldProps) {
  const { id, form, value, onChange, agreement, complaint } = props;
  const texts = useTexts();
  const all = form.points ?? 2;
  return (
    <>
      <Statement {...props} />
      <Points
        labelledBy={id}
        points={all}
        ends={endsOf(form, agreement, texts)}
        labels={form.labels}
        value={typeof value === "number" ? value : null}
        onChange={onChange}
        say={(now, words) =>
          words === null
            ? texts.say("scale.point", { now, all })
            : texts.say("scale.point_end", { now, all, words })
        }
        wrong={complaint !== null}
      />
      <Complaint {...props} />
    </>
  );
}

function ChoiceField({ asked, form, value, onChange, complaint, optional }: FieldProps) {
  return (
    <RadioCards
      legend={<Asked optional={optional}>{asked}</Asked>}
      choices={form.choices.map((choice) => ({ value: choice, label: choice }))}
      value={typeof value === "string" ? value : null}
      onChange={onChange}
      complaint={complaint}
    />
  );
}

function ChoicesField({ asked, form, value, onChange, complaint, optional }: FieldProps) {
  return (
    <CheckCards
      legend={<Asked optional={optional}>{asked}</Asked>}
      choices={form.choices}
      values={Array.isArray(value) ? value.filter((one) => typeof one === "string") : []}
      onChange={(values) => onChange(values.length > 0 ? values : undefined)}
      complaint={complaint}
    />
  );
}

function NumberField(props: FieldProps) {
  const { form, value, onChange } = props;
  return (
    <Typed {...props}>
      <NumberInput
        {...inputOf(props)}
        value={value}
        onChange={onChange}
        mayBeNegative={(form.least ?? -1) < 0}
      />
    </Typed>
  );
}

function TextField(props: FieldProps) {
  return (
    <Typed {...props}>
      <textarea
        {...inputOf(props)}
        value={typeof props.value === "object" ? "" : (props.value ?? "")}
        rows={3}
        dir="auto"
        onInput={({ currentTarget }) => props.onChange(currentTarget.value || undefined)}
      />
    </Typed>
  );
}

function SpanField(props: FieldProps) {
  const { id, form, value, onChange } = props;
  const { language } = useTexts();
  const shown = useContext(ShownTexts);
  const words = useMarkerWords();
  return (
    <>
      <Statement {...props} />
      <TextMarker
        labelledBy={id}
        lines={markedIn(form, shown)}
        language={language}
        marks={marksIn(value)}
        onChange={(marks) => onChange(marks.length > 0 ? marks : undefined)}
        categories={form.categories}
        severities={form.severities}
        words={words}
      />
      <Complaint {...props} />
    </>
  );
}

/** What a text with marks says. */
export function useMarkerWords(): MarkerWords {
  const { say } = useTexts();
  const kind = (name: "category" | "severity") => ({
    choose: say(`question.mark_${name}`),
    of: (words: string) => say(`question.mark_${name}_of`, { words }),
  });
  return {
    how: say("question.mark"),
    keys: say("question.mark_keys"),
    end: say("question.mark_end"),
    cancel: say("question.mark_cancel"),
    none: say("question.mark_none"),
    remove: say("question.mark_remove"),
    removeOf: (words) => say("question.mark_remove_of", { words }),
    category: kind("category"),
    severity: kind("severity"),
  };
}

export function marksIn(value: AnswerValue | undefined): Mark[] {
  return Array.isArray(value) ? value.filter((one) => typeof one !== "string") : [];
}

function Typed(props: FieldProps & { children: ComponentChildren }) {
  const { id, asked, optional, children } = props;
  return (
    <>
      <div class="field">
        <label class="label" for={id}>
          <Asked optional={optional}>{asked}</Asked>
        </label>
        {children}
      </div>
      <Complaint {...props} />
    </>
  );
}

function inputOf({ id, complaint }: FieldProps) {
  return {
    id,
    class: "input",
    "aria-invalid": complaint ? ("true" as const) : undefined,
    "aria-describedby": complaint ? `${id}-complaint` : undefined,
  };
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

function Statement({ id, asked, optional }: FieldProps) {
  return (
    <p id={id} class="statement-text" dir="auto">
      <Asked optional={optional}>{asked}</Asked>
    </p>
  );
}

function Complaint({ id, complaint }: FieldProps) {
  return (
    complaint && (
      <p class="complaint" id={`${id}-complaint`}>
        {complaint}
      </p>
    )
  );
}

function Asked({ children, optional }: { children: ComponentChildren; optional: boolean }) {
  const { say } = useTexts();
  return (
    <>
      {children} {optional && <span class="soft asked-optional">{say("question.optional")}</span>}
    </>
  );
}

function endsOf(form: AnswerForm, agreement: boolean | undefined, { say }: Texts): readonly string[] | null {
  return form.ends ?? (agreement ? [say("scale.low"), say("scale.high")] : null);
}

/** A slider's value in words, for who cannot see it. */
function spoken({ say }: Texts, value: number | null, ends: readonly string[] | null): string {
  return ends === null || value === null
    ? say(`scale.${bandOf(value)}`)
    : say("scale.between", { now: value, low: ends[0] ?? "", high: ends[1] ?? "" });
}

function textFault(_: AnswerForm, value: AnswerValue): Fault | null {
  const room = roomIn(String(value), MAX_ANSWER);
  return room < 0 ? { key: "common.too_long", values: { n: -room } } : null;
}

function spanFault({ categories, severities }: AnswerForm, value: AnswerValue): Fault | null {
  const isWhole = ({ category, severity }: Mark) =>
    (categories.length === 0 || category !== undefined) &&
    (severities.length === 0 || severity !== undefined);
  return marksIn(value).every(isWhole) ? null : { key: "question.mark_kinds" };
}

function numberFault({ least, most }: AnswerForm, value: AnswerValue): Fault | null {
  if (typeof value !== "number") {
    return { key: "question.number", values: { example: 7.5 } };
  }
  const isOutside = (least !== null && value < least) || (most !== null && value > most);
  return isOutside ? range(least, most) : null;
}

function range(least: number | null, most: number | null): Fault {
  if (least === null) {
    return { key: "question.at_most", values: { most: most ?? 0 } };
  }
  return most === null
    ? { key: "question.at_least", values: { least } }
    : { key: "question.between", values: { least, most } };
}

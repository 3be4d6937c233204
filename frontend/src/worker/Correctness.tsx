import type { ComponentChildren } from "preact";
import { RadioCards } from "../design/RadioCards";
import { TextMarker } from "../design/TextMarker";
import { type AnswerValue, marksIn, useMarkerWords } from "./answer_kinds";
import { useTexts } from "./hooks";
import { type Answers, changed } from "./Questions";
import type { ItemContent, Mark } from "./session/protocol";
import type { TextKey } from "./texts/words";

const VERDICTS = ["correct", "incorrect", "neither"] as const;
type Verdict = (typeof VERDICTS)[number];

/** What each paragraph shows, by its number from 0. */
export type Verdicts = Record<number, Verdict>;

interface Props {
  item: ItemContent;
  answers: Answers;
  verdicts: Verdicts;
  onChange: (answers: Answers, verdicts: Verdicts) => void;
  /** Whether the worker has tried to go on, so that what is missing is shown. */
  tried: boolean;
}

/** Whether an answer is plausible; then of each paragraph what it shows, and where; then a second look. */
export function Correctness({ item, answers, verdicts, onChange, tried }: Props) {
  const { say, language } = useTexts();
  const words = useMarkerWords();
  const all = item.paragraphs.length;
  const marks = marksIn(answers.evidence);
  const faults = faultsOf(item, answers, verdicts);
  const complaint = (step: Step) => {
    const key = faults.get(step);
    return tried && key ? say(key) : null;
  };
  const set = (label: string, value: AnswerValue) => onChange(changed(answers, label, value), verdicts);
  // Whoever changes a mark looks at all of them again.
  const mark = (next: Mark[], now = verdicts) =>
    onChange(
      changed(changed(answers, "evidence", next.length > 0 ? next : undefined), "confirmed", undefined),
      now,
    );
  const judge = (line: number, verdict: Verdict) => {
    const others = marks.filter((one) => one.line !== line);
    const own = marks.filter((one) => one.line === line).map((one) => ({ ...one, category: verdict }));
    mark(verdict === "neither" ? others : [...others, ...own], { ...verdicts, [line]: verdict });
  };
  const yesOrNo = (["yes", "no"] as const).map((value) => ({ value, label: say(`correctness.${value}`) }));

  return (
    <ol class="statements">
      <Step fault={faults.has("plausible")} complaint={complaint("plausible")}>
        <RadioCards
          legend={
            <>
              {say("correctness.plausible")}
              <span class="step-hint soft small">{say("correctness.plausible_hint")}</span>
            </>
          }
          choices={yesOrNo}
          value={yesIn(answers.plausible)}
          onChange={(value) => set("plausible", value)}
          complaint={complaint("plausible")}
          row
        />
      </Step>
      {answers.plausible === "yes" &&
        item.paragraphs.map((text, line) => {
          const verdict = verdicts[line] ?? null;
          const id = `paragraph-${line}`;
          return (
            <Step key={line} fault={faults.has(line)} complaint={complaint(line)}>
              <p class="kicker">{say("correctness.paragraph", { now: line + 1, all })}</p>
              {(verdict === null || verdict === "neither") && (
                <p class="item-text passage" dir="auto" translate={false}>
                  {text}
                </p>
              )}
              <RadioCards
                legend={say("correctness.shows")}
                choices={VERDICTS.map((value) => ({ value, label: say(`correctness.${value}`) }))}
                value={verdict}
                onChange={(value) => judge(line, value)}
                complaint={verdict === null ? complaint(line) : null}
                row
              />
              {verdict !== null && verdict !== "neither" && (
                <>
                  <p id={id} class="statement-text step-below">
                    {say("correctness.mark")}
                  </p>
                  <TextMarker
                    labelledBy={id}
                    lines={[{ line, text, markable: true }]}
                    language={language}
                    marks={marks.filter((one) => one.line === line)}
                    onChange={(next) =>
                      mark([
                        ...marks.filter((one) => one.line !== line),
                        ...next.map((one) => ({ ...one, category: verdict })),
                      ])
                    }
                    categories={[]}
                    severities={[]}
                    words={words}
                  />
                  <p class="complaint">{complaint(line)}</p>
                </>
              )}
            </Step>
          );
        })}
      {asksAgain(item, answers, verdicts) && (
        <Step fault={faults.has("confirmed")} complaint={complaint("confirmed")}>
          <RadioCards
            legend={say("correctness.confirm")}
            choices={yesOrNo}
            value={yesIn(answers.confirmed)}
            onChange={(value) => set("confirmed", value)}
            complaint={answers.confirmed === "no" ? say("correctness.change") : complaint("confirmed")}
            row
          />
        </Step>
      )}
    </ol>
  );
}

/** A step: a question by its label, or a paragraph by its number. */
type Step = "plausible" | "confirmed" | number;

interface StepProps {
  fault: boolean;
  complaint: string | null;
  children: ComponentChildren;
}

function Step({ fault, complaint, children }: StepProps) {
  return (
    <li class={`statement ${complaint ? "statement-missing" : ""}`} data-missing={fault ? "" : undefined}>
      {children}
    </li>
  );
}

function yesIn(value: AnswerValue | undefined): "yes" | "no" | null {
  return value === "yes" || value === "no" ? value : null;
}

/** Returns what keeps the worker from going on, by step. */
export function faultsOf(item: ItemContent, answers: Answers, verdicts: Verdicts): Map<Step, TextKey> {
  const faults = new Map<Step, TextKey>();
  if (yesIn(answers.plausible) === null) {
    faults.set("plausible", "rating.missing");
  }
  if (answers.plausible !== "yes") {
    return faults;
  }
  const marked = new Set(marksIn(answers.evidence).map(({ line }) => line));
  for (const line of item.paragraphs.keys()) {
    const verdict = verdicts[line];
    if (verdict === undefined) {
      faults.set(line, "rating.missing");
    } else if (verdict !== "neither" && !marked.has(line)) {
      faults.set(line, "correctness.unmarked");
    }
  }
  if (marked.size > 0 && answers.confirmed !== "yes") {
    faults.set("confirmed", answers.confirmed === "no" ? "correctness.change" : "rating.missing");
  }
  return faults;
}

/** Whether all paragraphs are judged, so that the worker looks at the marks again. */
function asksAgain(item: ItemContent, answers: Answers, verdicts: Verdicts): boolean {
  const open = [...faultsOf(item, answers, verdicts).keys()].filter((step) => step !== "confirmed");
  return open.length === 0 && marksIn(answers.evidence).length > 0;
}

/** The answers as they are sent: an answer that is not plausible has no evidence. */
export function judged(answers: Answers): Answers {
  const { plausible, evidence, confirmed } = answers;
  return Object.fromEntries(
    Object.entries(plausible === "yes" ? { plausible, evidence, confirmed } : { plausible }).filter(
      (entry): entry is [string, AnswerValue] => entry[1] !== undefined,
    ),
  );
}

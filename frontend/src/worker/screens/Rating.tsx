import { useMemo, useRef, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { AnswerField, faultOf } from "../AnswerField";
import {
  ANSWER_TYPES,
  type AnswerValue,
  isAsked,
  judgedOn,
  linesOf,
  ShownTexts,
  shownOf,
} from "../answer_kinds";
import { NAMES } from "../Both";
import { Correctness, faultsOf, judged, type Verdicts } from "../Correctness";
import { Heading } from "../Heading";
import { useDraft, useSession, useTexts, useTitle } from "../hooks";
import { Improve, mustImprove } from "../Improve";
import { Item } from "../Item";
import { Lines } from "../Lines";
import { MAX_EDIT, roomIn } from "../limits";
import { Marked } from "../Marked";
import { showFirstMissing } from "../missing";
import { type Answers, changed, faulty, Questions, toSend } from "../Questions";
import { Report } from "../Report";
import type { AnswerForm, CriterionCard, StudyCard, TurnCard } from "../session/protocol";
import { type CutShort, type RatingScreen, type Side, underWay } from "../session/reducer";
import type { TextKey } from "../texts/words";

interface Props {
  screen: RatingScreen;
  study: StudyCard;
}

const SLIDER: AnswerForm = {
  kind: "slider",
  points: null,
  ends: null,
  labels: [],
  choices: [],
  least: null,
  most: null,
  text: null,
  categories: [],
  severities: [],
};

/** What is said to a worker who has not ended the conversation, by who has. */
const CUT_SHORT = {
  chatbot: "rating.cut_short",
  researcher: "rating.cut_short_researcher",
} satisfies Record<CutShort, TextKey>;

/** What was said with one of two chatbots. */
function ofSide(turns: TurnCard[], side: Side | null): TurnCard[] {
  return side === "right" ? turns.map((turn) => ({ ...turn, text: turn.right ?? turn.text })) : turns;
}

/** Whether a statement is rated, by a slider or on points; it is answered in words otherwise. */
function isRated({ scale }: CriterionCard): boolean {
  return ANSWER_TYPES[(scale ?? SLIDER).kind].isRated;
}

/** The statements of the study, each with a slider or what it has instead, below what is rated. An untouched one is no answer. */
export function Rating({ screen, study }: Props) {
  const { conversation, attempt, cutShort, item, side, turns } = screen;
  // Each of two chatbots has values of its own.
  const draft = side === null ? `${conversation}:` : `${conversation}:${side}:`;
  const { say } = useTexts();
  const place = { now: conversation, all: study.conversations };
  useTitle(say(item === null ? "rating.tab" : "rating.tab_item", place));
  const session = useSession();
  const form = useRef<HTMLFormElement>(null);
  const [ratings, setRatings] = useDraft<Record<string, number>>(`${draft}ratings`, {});
  const [answers, setAnswers] = useDraft<Answers>(`${draft}answers`, {});
  const [edit, setEdit] = useDraft(`${draft}edit`, item?.text ?? "");
  const [tried, setTried] = useState(false);
  const improving = mustImprove(study.post_edit, item, ratings);
  const unimproved = improving && edit.trim() === item?.text;
  const shown = useMemo(
    () => (item ? shownOf(item) : { output: linesOf(ofSide(turns, side)), context: [] }),
    [item, turns, side],
  );
  const asked = study.questionnaires.conversation.filter((question) => isAsked(question, shown));
  const how = say(`rating.how_${judgedOn(study.criteria)}`);
  const answerTo = (criterion: CriterionCard): AnswerValue | undefined =>
    (isRated(criterion) ? ratings : answers)[criterion.label];
  const set = (criterion: CriterionCard, value: AnswerValue | undefined) =>
    isRated(criterion)
      ? setRatings({ ...ratings, [criterion.label]: Number(value) })
      : setAnswers(changed(answers, criterion.label, value));
  const unrated = study.criteria.filter(
    (criterion) => faultOf(criterion.scale ?? SLIDER, answerTo(criterion), true) !== null,
  );
  const isJudged = study.correctness && item !== null;
  const [verdicts, setVerdicts] = useDraft<Verdicts>(`${draft}verdicts`, {});
  const open = isJudged ? faultsOf(item, answers, verdicts).size : 0;
  const missing = unrated.length + open + faulty(asked, answers).length;
  const sending = underWay(session.state, "rate", screen) !== null;
  const last = conversation === study.conversations;

  const submit = (event: Event) => {
    event.preventDefault();
    if (missing > 0) {
      setTried(true);
      showFirstMissing(form.current);
    } else if (unimproved || (improving && roomIn(edit, MAX_EDIT) < 0)) {
      setTried(true);
      form.current?.querySelector<HTMLTextAreaElement>("textarea")?.focus();
    } else if (!sending) {
      const rated = study.criteria.filter(isRated).map(({ label }) => [label, ratings[label] ?? 0] as const);
      const inWords = study.criteria.filter((criterion) => !isRated(criterion));
      session.send({
        type: "rate",
        conversation,
        attempt,
        ratings: Object.fromEntries(rated),
        answers: { ...toSend([...inWords, ...asked], answers), ...(isJudged ? judged(answers) : {}) },
        edit: improving ? edit.trim() : null,
        side,
      });
    }
  };

  return (
    <div class="page page-barred">
      {cutShort !== null && (
        <div class="panel panel-calm" role="status">
          <p>
            <Marked of={CUT_SHORT[cutShort]} />
          </p>
        </div>
      )}
      <form ref={form} class="rating" onSubmit={submit} noValidate>
        {item === null ? (
          <>
            <div class="flow-tight">
              <p class="kicker">{say("rating.over", place)}</p>
              <Heading>
                {side === null ? say("rating.title") : say("rating.title_side", { name: NAMES[side] })}
              </Heading>
              <p class="soft">
                {side === null
                  ? say("rating.lead", { how })
                  : say("rating.lead_side", { name: NAMES[side], how })}
              </p>
            </div>
            {study.transcript_while_rating && (
              <details class="transcript">
                <summary>{say("rating.transcript")}</summary>
                <Lines
                  lines={ofSide(turns, side)}
                  person="chat.you"
                  report={(index, { author, text }) =>
                    author === "bot" && (
                      <Report
                        screen={screen}
                        turn={index}
                        side={screen.turns[index]?.right == null ? null : side}
                        text={text}
                      />
                    )
                  }
                />
              </details>
            )}
          </>
        ) : (
          <>
            <div class="flow-tight">
              <p class="kicker">{say("frame.item", place)}</p>
              <Heading>
                {say(
                  study.correctness
                    ? "correctness.title"
                    : item.text === null
                      ? "rating.read_conversation"
                      : "rating.read_text",
                )}
              </Heading>
            </div>
            <Item
              item={item}
              report={(index, text) => <Report screen={screen} turn={index} side={null} text={text} />}
              judged={study.correctness}
            />
            {isJudged && (
              <Correctness
                item={item}
                answers={answers}
                verdicts={verdicts}
                onChange={(next, now) => {
                  setAnswers(next);
                  setVerdicts(now);
                }}
                tried={tried}
              />
            )}
            {study.criteria.length > 0 && (
              <div class="flow-tight">
                <h2>{say("rating.title_item")}</h2>
                <p class="soft">{say("rating.lead_item", { how })}</p>
              </div>
            )}
          </>
        )}
        <ol class="statements">
          {study.criteria.map((criterion, index) => (
            <AnswerField
              key={criterion.label}
              id={`statement-${index}`}
              asked={criterion.statement}
              form={criterion.scale ?? SLIDER}
              value={answerTo(criterion)}
              onChange={(value) => set(criterion, value)}
              fault={faultOf(criterion.scale ?? SLIDER, answerTo(criterion), true)}
              tried={tried}
              optional={false}
              agreement
            />
          ))}
        </ol>
        {asked.length > 0 && (
          <>
            <h2 class="more-questions">{say("question.about")}</h2>
            <ShownTexts.Provider value={shown}>
              <Questions
                name="question"
                asked={asked}
                answers={answers}
                onChange={setAnswers}
                tried={tried}
              />
            </ShownTexts.Provider>
          </>
        )}
        {improving && <Improve value={edit} onChange={setEdit} complaint={tried && unimproved} />}
        <div class="bar">
          <p class="soft small" role="status">
            {missing === 0 ? say("rating.complete") : say("rating.to_answer", { n: missing })}
          </p>
          <Button type="submit" kind={missing > 0 ? "secondary" : "primary"} off={sending}>
            {say(sending ? "common.wait" : last ? "rating.submit" : "rating.submit_next")}
          </Button>
        </div>
      </form>
    </div>
  );
}

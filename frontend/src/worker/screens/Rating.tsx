import { useRef, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { AnswerField, type AnswerValue, faultOf } from "../AnswerField";
import { NAMES } from "../Both";
import { Heading } from "../Heading";
import { useDraft, useSession, useTitle } from "../hooks";
import { Improve, mustImprove } from "../Improve";
import { Item } from "../Item";
import { showFirstMissing } from "../missing";
import { type Answers, changed, faulty, Questions, toSend } from "../Questions";
import type { AnswerForm, CriterionCard, StudyCard } from "../session/protocol";
import { type RatingScreen, underWay } from "../session/reducer";

interface Props {
  screen: RatingScreen;
  study: StudyCard;
}

const SLIDER: AnswerForm = {
  kind: "slider",
  points: null,
  ends: null,
  choices: [],
  least: null,
  most: null,
};

/** Whether a statement is rated, by a slider or on points; it is answered in words otherwise. */
function isRated({ scale }: CriterionCard): boolean {
  return scale === null || scale.kind === "slider" || scale.kind === "likert";
}

/** The statements of the study, each with a slider or what it has instead, below what is rated. An untouched one is no answer. */
export function Rating({ screen, study }: Props) {
  const { conversation, attempt, cutShort, item, side } = screen;
  // Each of two chatbots has values of its own.
  const draft = side === null ? `${conversation}:` : `${conversation}:${side}:`;
  useTitle(`Rate ${item === null ? "conversation" : "number"} ${conversation}`);
  const session = useSession();
  const form = useRef<HTMLFormElement>(null);
  const [ratings, setRatings] = useDraft<Record<string, number>>(`${draft}ratings`, {});
  const [answers, setAnswers] = useDraft<Answers>(`${draft}answers`, {});
  const [edit, setEdit] = useDraft(`${draft}edit`, item?.text ?? "");
  const [tried, setTried] = useState(false);
  const improving = mustImprove(study.post_edit, item, ratings);
  const unimproved = improving && edit.trim() === item?.text;
  const asked = study.questionnaires.conversation;
  const answerTo = (criterion: CriterionCard): AnswerValue | undefined =>
    (isRated(criterion) ? ratings : answers)[criterion.label];
  const set = (criterion: CriterionCard, value: AnswerValue | undefined) =>
    isRated(criterion)
      ? setRatings({ ...ratings, [criterion.label]: Number(value) })
      : setAnswers(changed(answers, criterion.label, value));
  const unrated = study.criteria.filter(
    (criterion) => faultOf(criterion.scale ?? SLIDER, answerTo(criterion), true) !== null,
  );
  const missing = unrated.length + faulty(asked, answers).length;
  const sending = underWay(session.state, "rate", screen) !== null;

  const submit = (event: Event) => {
    event.preventDefault();
    if (missing > 0) {
      setTried(true);
      showFirstMissing(form.current);
    } else if (unimproved) {
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
        answers: toSend([...inWords, ...asked], answers),
        edit: improving ? edit.trim() : null,
        side,
      });
    }
  };

  return (
    <div class="page">
      {cutShort && (
        <div class="panel panel-calm" role="status">
          <p>
            <strong>That chatbot could not go on.</strong> You had written enough, so please rate the
            conversation as far as it went.
          </p>
        </div>
      )}
      <form ref={form} class="rating" onSubmit={submit} noValidate>
        {item === null ? (
          <div class="flow-tight">
            <p class="kicker">
              Conversation {conversation} of {study.conversations} is over
            </p>
            <Heading>{side === null ? "How was it?" : `How was chatbot ${NAMES[side]}?`}</Heading>
            <p class="soft">
              Think of the conversation you have just had
              {side === null ? "" : ` with chatbot ${NAMES[side]}, the one on the ${side}`}. Tap or drag on
              each line to say how far you agree.
            </p>
          </div>
        ) : (
          <>
            <div class="flow-tight">
              <p class="kicker">
                Number {conversation} of {study.conversations}
              </p>
              <Heading>{item.text === null ? "Read this conversation" : "Read this text"}</Heading>
            </div>
            <Item item={item} />
            <div class="flow-tight">
              <h2>How is it?</h2>
              <p class="soft">Tap or drag on each line to say how far you agree.</p>
            </div>
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
            <h2 class="more-questions">A few questions about it</h2>
            <Questions name="question" asked={asked} answers={answers} onChange={setAnswers} tried={tried} />
          </>
        )}
        {improving && <Improve value={edit} onChange={setEdit} complaint={tried && unimproved} />}
        <div class="bar">
          <p class="soft small" role="status">
            {missing === 0 ? "All statements are answered." : `${missing} still to answer`}
          </p>
          <Button type="submit" kind={missing > 0 ? "quiet" : "primary"} off={sending}>
            {submitText(missing, sending, conversation === study.conversations)}
          </Button>
        </div>
      </form>
    </div>
  );
}

function submitText(missing: number, sending: boolean, last: boolean): string {
  if (sending) {
    return "One moment…";
  }
  if (missing > 0) {
    return missing === 1 ? "1 answer missing" : `${missing} answers missing`;
  }
  return last ? "Submit ratings" : "Submit ratings and go on";
}

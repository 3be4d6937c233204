import { useRef, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Slider } from "../../design/Slider";
import { NAMES } from "../Both";
import { Heading } from "../Heading";
import { useDraft, useSession, useTitle } from "../hooks";
import { Improve, mustImprove } from "../Improve";
import { Item } from "../Item";
import type { StudyCard } from "../session/protocol";
import { type RatingScreen, underWay } from "../session/reducer";

interface Props {
  screen: RatingScreen;
  study: StudyCard;
}

/** The statements of the study, each with a slider, below what is rated. An untouched one is no answer. */
export function Rating({ screen, study }: Props) {
  const { conversation, attempt, cutShort, item, side } = screen;
  // Each of two chatbots has values of its own.
  const draft = side === null ? `${conversation}:` : `${conversation}:${side}:`;
  useTitle(`Rate ${item === null ? "conversation" : "number"} ${conversation}`);
  const session = useSession();
  const form = useRef<HTMLFormElement>(null);
  const [ratings, setRatings] = useDraft<Record<string, number>>(`${draft}ratings`, {});
  const [edit, setEdit] = useDraft(`${draft}edit`, item?.text ?? "");
  const [tried, setTried] = useState(false);
  const improving = mustImprove(study.post_edit, item, ratings);
  const unimproved = improving && edit.trim() === item?.text;
  const missing = study.criteria.filter(({ label }) => ratings[label] === undefined);
  const sending = underWay(session.state, "rate", screen) !== null;

  const submit = (event: Event) => {
    event.preventDefault();
    const first = missing[0];
    if (first) {
      setTried(true);
      const index = study.criteria.indexOf(first);
      const slider = form.current?.querySelectorAll<HTMLInputElement>("input[type=range]")[index];
      slider?.closest(".statement")?.scrollIntoView({ block: "center" });
      slider?.focus({ preventScroll: true });
    } else if (unimproved) {
      setTried(true);
      form.current?.querySelector<HTMLTextAreaElement>("textarea")?.focus();
    } else if (!sending) {
      const asked = study.criteria.map(({ label }) => [label, ratings[label] ?? 0] as const);
      session.send({
        type: "rate",
        conversation,
        attempt,
        ratings: Object.fromEntries(asked),
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
          {study.criteria.map(({ label, statement }, index) => {
            const value = ratings[label] ?? null;
            const id = `statement-${index}`;
            return (
              <li key={label} class={`statement ${tried && value === null ? "statement-missing" : ""}`}>
                <p id={id} class="statement-text">
                  {statement}
                </p>
                <Slider
                  labelledBy={id}
                  value={value}
                  onChange={(next) => setRatings({ ...ratings, [label]: next })}
                />
                <p class="slider-ends" aria-hidden="true">
                  <span>strongly disagree</span>
                  <span>strongly agree</span>
                </p>
                {tried && value === null && <p class="complaint">Please answer this one, too.</p>}
              </li>
            );
          })}
        </ol>
        {improving && <Improve value={edit} onChange={setEdit} complaint={tried && unimproved} />}
        <div class="bar">
          <p class="soft small" role="status">
            {missing.length === 0
              ? "All statements are answered."
              : `${missing.length} of ${study.criteria.length} still to answer`}
          </p>
          <Button type="submit" kind={missing.length > 0 ? "quiet" : "primary"} off={sending}>
            {submitText(missing.length, sending, conversation === study.conversations)}
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

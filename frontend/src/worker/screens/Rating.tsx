import { useRef, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Slider } from "../../design/Slider";
import { bandOf } from "../../design/scale";
import { Heading } from "../Heading";
import { useDraft, useSession, useTexts, useTitle } from "../hooks";
import { Improve, mustImprove } from "../Improve";
import { Item } from "../Item";
import { Lines } from "../Lines";
import { MAX_EDIT } from "../limits";
import { Marked } from "../Marked";
import type { StudyCard } from "../session/protocol";
import { type RatingScreen, underWay } from "../session/reducer";
import type { Texts } from "../texts/words";

interface Props {
  screen: RatingScreen;
  study: StudyCard;
}

/** The statements of the study, each with a slider, below what is rated. An untouched one is no answer. */
export function Rating({ screen, study }: Props) {
  const { conversation, attempt, cutShort, item } = screen;
  const texts = useTexts();
  const { say } = texts;
  const place = { now: conversation, all: study.conversations };
  useTitle(say(item === null ? "rating.tab" : "rating.tab_item", place));
  const session = useSession();
  const form = useRef<HTMLFormElement>(null);
  const [ratings, setRatings] = useDraft<Record<string, number>>(`${conversation}:ratings`, {});
  const [edit, setEdit] = useDraft(`${conversation}:edit`, item?.text ?? "");
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
    } else if (unimproved || (improving && edit.length > MAX_EDIT)) {
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
      });
    }
  };

  return (
    <div class="page page-barred">
      {cutShort && (
        <div class="panel panel-calm" role="status">
          <p>
            <Marked of="rating.cut_short" />
          </p>
        </div>
      )}
      <form ref={form} class="rating" onSubmit={submit} noValidate>
        {item === null ? (
          <>
            <div class="flow-tight">
              <p class="kicker">{say("rating.over", place)}</p>
              <Heading>{say("rating.title")}</Heading>
              <p class="soft">{say("rating.lead")}</p>
            </div>
            {study.transcript_while_rating && (
              <details class="transcript">
                <summary>{say("rating.transcript")}</summary>
                <Lines lines={screen.turns} person="chat.you" />
              </details>
            )}
          </>
        ) : (
          <>
            <div class="flow-tight">
              <p class="kicker">{say("frame.item", place)}</p>
              <Heading>{say(item.text === null ? "rating.read_conversation" : "rating.read_text")}</Heading>
            </div>
            <Item item={item} />
            <div class="flow-tight">
              <h2>{say("rating.title_item")}</h2>
              <p class="soft">{say("rating.lead_item")}</p>
            </div>
          </>
        )}
        <ol class="statements">
          {study.criteria.map(({ label, statement }, index) => {
            const value = ratings[label] ?? null;
            const id = `statement-${index}`;
            return (
              <li key={label} class={`statement ${tried && value === null ? "statement-missing" : ""}`}>
                <p id={id} class="statement-text" dir="auto">
                  {statement}
                </p>
                <Slider
                  labelledBy={id}
                  value={value}
                  words={say(`scale.${bandOf(value)}`)}
                  onChange={(next) => setRatings({ ...ratings, [label]: next })}
                />
                <p class="slider-ends" aria-hidden="true">
                  <span>{say("scale.low")}</span>
                  <span>{say("scale.high")}</span>
                </p>
                {tried && value === null && <p class="complaint">{say("rating.missing")}</p>}
              </li>
            );
          })}
        </ol>
        {improving && <Improve value={edit} onChange={setEdit} complaint={tried && unimproved} />}
        <div class="bar">
          <p class="soft small" role="status">
            {missing.length === 0
              ? say("rating.complete")
              : say("rating.to_answer", { n: missing.length, all: study.criteria.length })}
          </p>
          <Button type="submit" kind={missing.length > 0 ? "quiet" : "primary"} off={sending}>
            {submitText(texts, missing.length, sending, conversation === study.conversations)}
          </Button>
        </div>
      </form>
    </div>
  );
}

function submitText({ say }: Texts, missing: number, sending: boolean, last: boolean): string {
  if (sending) {
    return say("common.wait");
  }
  if (missing > 0) {
    return say("rating.answers_missing", { n: missing });
  }
  return say(last ? "rating.submit" : "rating.submit_next");
}

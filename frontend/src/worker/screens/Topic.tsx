import { useRef, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Excess } from "../Excess";
import { Heading } from "../Heading";
import { useDraft, useSession, useTexts, useTitle } from "../hooks";
import { MAX_TOPIC, roomIn } from "../limits";
import { Marked } from "../Marked";
import { Opinions } from "../Opinions";
import type { Opinion, StudyCard } from "../session/protocol";
import { type Screen, underWay } from "../session/reducer";

interface Props {
  screen: Extract<Screen, { name: "topic" }>;
  study: StudyCard;
}

/** The opening topic of a conversation and what the worker thinks of it. */
export function Topic({ screen, study }: Props) {
  const { conversation, attempt, icebreaker, scenario } = screen;
  const { say } = useTexts();
  const place = { now: conversation, all: study.conversations };
  useTitle(say("topic.tab", place));
  const session = useSession();
  const field = useRef<HTMLInputElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const [text, setText] = useDraft(`${conversation}:topic`, "");
  const [opinion, setOpinion] = useDraft<Opinion | null>(`${conversation}:opinion:${icebreaker ?? ""}`, null);
  const [tried, setTried] = useState(false);
  const sending = underWay(session.state, "topic", screen) !== null;
  const free = icebreaker === null;
  const textMissing = free && !text.trim();
  const tooLong = free && roomIn(text, MAX_TOPIC) < 0;

  const submit = (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (textMissing || tooLong) {
      field.current?.focus();
    } else if (opinion === null) {
      form.current?.querySelector<HTMLInputElement>("input[type=radio]")?.focus();
    } else if (!sending) {
      session.send({ type: "topic", conversation, attempt, text: free ? text.trim() : null, opinion });
    }
  };

  return (
    <div class="page">
      {attempt > 1 && (
        <div class="panel panel-calm" role="status">
          <p>
            <Marked of="topic.again" />
          </p>
        </div>
      )}
      <form ref={form} class="panel flow" onSubmit={submit} noValidate>
        <div>
          <p class="kicker">{say(study.comparison ? "topic.kicker_pair" : "topic.kicker", place)}</p>
          <Heading>{say(free ? "topic.title_free" : "topic.title_given")}</Heading>
        </div>
        {scenario !== null && (
          <div class="scenario">
            <p class="kicker">{say("scenario.title")}</p>
            <p class="scenario-text">{scenario}</p>
          </div>
        )}
        {free ? (
          <div class="field">
            <label class="label" for="topic">
              {say("topic.label")}
            </label>
            <input
              ref={field}
              id="topic"
              class="input"
              dir={text ? "auto" : undefined}
              value={text}
              autocomplete="off"
              enterkeyhint="next"
              placeholder={say("topic.hint")}
              aria-invalid={(tried && textMissing) || tooLong ? "true" : undefined}
              aria-describedby="topic-complaint topic-excess"
              onInput={(event) => setText(event.currentTarget.value)}
            />
            <p class="complaint" id="topic-complaint">
              {tried && textMissing ? say("topic.missing") : ""}
            </p>
            <Excess id="topic-excess" text={text} most={MAX_TOPIC} />
          </div>
        ) : (
          <blockquote class="icebreaker" dir="auto" translate={false}>
            {icebreaker}
          </blockquote>
        )}
        <Opinions
          legend={say("opinion.yours")}
          value={opinion}
          onChange={setOpinion}
          complaint={tried && opinion === null ? say("common.choose") : null}
        />
        <div class="actions">
          <Button type="submit" off={sending}>
            {say(sending ? "common.wait" : "topic.start")}
          </Button>
        </div>
      </form>
    </div>
  );
}

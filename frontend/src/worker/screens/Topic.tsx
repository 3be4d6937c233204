import { useRef, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Heading } from "../Heading";
import { useDraft, useSession, useTitle } from "../hooks";
import { MAX_TOPIC } from "../limits";
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
  useTitle(`Topic of conversation ${conversation}`);
  const session = useSession();
  const field = useRef<HTMLInputElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const [text, setText] = useDraft(`${conversation}:topic`, "");
  const [opinion, setOpinion] = useDraft<Opinion | null>(`${conversation}:opinion:${icebreaker ?? ""}`, null);
  const [tried, setTried] = useState(false);
  const sending = underWay(session.state, "topic", screen) !== null;
  const free = icebreaker === null;
  const textMissing = free && !text.trim();

  const submit = (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (textMissing) {
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
            <strong>That chatbot could not go on.</strong> A new one takes its place, and this conversation
            starts over. Everything you finished before is kept.
          </p>
        </div>
      )}
      <form ref={form} class="panel flow" onSubmit={submit} noValidate>
        <div>
          <p class="kicker">
            Conversation {conversation} of {study.conversations} · a new chatbot
          </p>
          <Heading>{free ? "What would you like to talk about?" : "Here is your topic"}</Heading>
        </div>
        {scenario !== null && (
          <div class="scenario">
            <p class="kicker">Your situation</p>
            <p class="scenario-text">{scenario}</p>
          </div>
        )}
        {free ? (
          <div class="field">
            <label class="label" for="topic">
              Your topic
            </label>
            <input
              ref={field}
              id="topic"
              class="input"
              value={text}
              maxLength={MAX_TOPIC}
              autocomplete="off"
              enterkeyhint="next"
              placeholder="A hobby, a place, something in the news…"
              aria-invalid={tried && textMissing ? "true" : undefined}
              aria-describedby="topic-complaint"
              onInput={(event) => setText(event.currentTarget.value)}
            />
            <p class="complaint" id="topic-complaint">
              {tried && textMissing ? "Please write a topic." : ""}
            </p>
          </div>
        ) : (
          <blockquote class="icebreaker">{icebreaker}</blockquote>
        )}
        <Opinions
          legend="How do you feel about it?"
          value={opinion}
          onChange={setOpinion}
          complaint={tried && opinion === null ? "Please choose one." : null}
        />
        <div class="actions">
          <Button type="submit" off={sending}>
            {sending ? "One moment…" : "Start the conversation"}
          </Button>
        </div>
      </form>
    </div>
  );
}

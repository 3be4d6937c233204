import { useRef, useState } from "preact/hooks";
import { Button } from "../design/Button";
import { Dialog } from "../design/Dialog";
import { RadioCards } from "../design/RadioCards";
import { Excess } from "./Excess";
import { useDraft, useSession, useTexts } from "./hooks";
import { MAX_TOPIC, roomIn } from "./limits";
import { Opinions } from "./Opinions";
import type { Opinion, TopicChangeKind } from "./session/protocol";
import type { ChatScreen } from "./session/reducer";

const KINDS = [
  ["bot change", "change.bot"],
  ["user change last", "change.last"],
  ["user change next", "change.next"],
  ["user wants bot change", "change.wish"],
  ["no change", "change.same"],
] as const;

interface Draft {
  how: TopicChangeKind | null;
  topic: string | null;
  opinion: Opinion | null;
  bot_opinion: Opinion | null;
}

const EMPTY: Draft = { how: null, topic: null, opinion: null, bot_opinion: null };

interface Props {
  chat: ChatScreen;
  topic: string;
  onClose: () => void;
}

/**
 * Records that the topic has changed: how, to what, and what both sides think of it. Where the topic is still the
 * same, nobody is asked for it, and what was said of it before is filled in.
 */
export function TopicDialog({ chat, topic, onClose }: Props) {
  const { conversation, attempt } = chat;
  const session = useSession();
  const { say } = useTexts();
  const form = useRef<HTMLFormElement>(null);
  const [draft, setDraft] = useDraft<Draft>(`${conversation}:change`, EMPTY);
  const [tried, setTried] = useState(false);
  const set = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const { how } = draft;
  const stays = how === "no change" || how === "user wants bot change";
  const text = stays ? topic : (draft.topic ?? "");
  const textMissing = !text.trim();
  const tooLong = roomIn(text, MAX_TOPIC) < 0;
  const opinion = draft.opinion ?? (stays ? chat.opinion : null);
  const botOpinion = draft.bot_opinion ?? (stays ? chat.botOpinion : null);
  const need = (missing: boolean, words = say("common.choose")) => (tried && missing ? words : null);

  const save = (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (how && opinion && botOpinion && !textMissing && !tooLong) {
      // Emptied before it is sent: a refusal gives the words back.
      setDraft(EMPTY);
      session.send({
        type: "topic_change",
        conversation,
        attempt,
        how,
        topic: text.trim(),
        opinion,
        bot_opinion: botOpinion,
      });
      onClose();
    } else {
      const first = [!how, textMissing || tooLong, !opinion, !botOpinion].indexOf(true);
      form.current?.querySelector<HTMLInputElement>(`[data-part="${first}"] input`)?.focus();
    }
  };

  return (
    <Dialog title={say("change.title")} onClose={onClose} sheet>
      <form ref={form} class="flow" onSubmit={save} noValidate>
        <div data-part={0}>
          <RadioCards
            legend={say("change.how")}
            choices={KINDS.map(([value, key]) => ({ value, label: say(key) }))}
            value={how}
            onChange={(next) => set({ how: next })}
            complaint={need(!how)}
          />
        </div>
        {stays ? (
          <div class="field">
            <p class="label">{say("change.current")}</p>
            <p class="sheet-topic" translate={false}>
              <bdi>{topic}</bdi>
            </p>
          </div>
        ) : (
          <div class="field" data-part={1}>
            <label class="label" for="new-topic">
              {say("change.new")}
            </label>
            <input
              id="new-topic"
              class="input"
              dir={text ? "auto" : undefined}
              value={text}
              autocomplete="off"
              placeholder={say("change.hint")}
              aria-invalid={need(textMissing) || tooLong ? "true" : undefined}
              aria-describedby="new-topic-complaint new-topic-excess"
              onInput={(event) => set({ topic: event.currentTarget.value })}
            />
            <p class="complaint" id="new-topic-complaint">
              {need(textMissing, say("change.missing"))}
            </p>
            <Excess id="new-topic-excess" text={text} most={MAX_TOPIC} />
          </div>
        )}
        <div data-part={2}>
          <Opinions
            legend={say("opinion.yours")}
            value={opinion}
            onChange={(next) => set({ opinion: next })}
            complaint={need(!opinion)}
          />
        </div>
        <div data-part={3}>
          <Opinions
            legend={say("opinion.chatbots")}
            value={botOpinion}
            onChange={(next) => set({ bot_opinion: next })}
            complaint={need(!botOpinion)}
          />
        </div>
        <div class="actions">
          <Button
            kind="secondary"
            onClick={() => {
              setDraft(EMPTY);
              onClose();
            }}
          >
            {say("change.cancel")}
          </Button>
          <Button type="submit">{say("change.save")}</Button>
        </div>
      </form>
    </Dialog>
  );
}

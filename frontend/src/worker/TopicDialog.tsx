import { useRef, useState } from "preact/hooks";
import { Button } from "../design/Button";
import { Dialog } from "../design/Dialog";
import { type Choice, RadioCards } from "../design/RadioCards";
import { useDraft, useSession } from "./hooks";
import { MAX_TOPIC } from "./limits";
import { Opinions } from "./Opinions";
import type { Opinion, TopicChangeKind } from "./session/protocol";
import type { ConversationName } from "./session/reducer";

const KINDS: Choice<TopicChangeKind>[] = [
  { value: "bot change", label: "The chatbot changed it" },
  { value: "user change last", label: "I changed it in my last message" },
  { value: "user change next", label: "I’ll change it in my next message" },
  { value: "user wants bot change", label: "I want the chatbot to change it" },
  { value: "no change", label: "It is the same, only opinions changed" },
];

interface Draft {
  how: TopicChangeKind | null;
  topic: string | null;
  opinion: Opinion | null;
  bot_opinion: Opinion | null;
}

const EMPTY: Draft = { how: null, topic: null, opinion: null, bot_opinion: null };

interface Props {
  chat: ConversationName;
  topic: string;
  onClose: () => void;
}

/** Records that the topic has changed: how, to what, and what both sides think of it. */
export function TopicDialog({ chat: { conversation, attempt }, topic, onClose }: Props) {
  const session = useSession();
  const form = useRef<HTMLFormElement>(null);
  const [draft, setDraft] = useDraft<Draft>(`${conversation}:change`, EMPTY);
  const [tried, setTried] = useState(false);
  const set = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const same = draft.how === "no change";
  const text = same ? topic : (draft.topic ?? "");
  const textMissing = !text.trim();
  const need = (missing: boolean, words = "Please choose one.") => (tried && missing ? words : null);

  const save = (event: Event) => {
    event.preventDefault();
    setTried(true);
    const { how, opinion, bot_opinion } = draft;
    if (how && opinion && bot_opinion && !textMissing) {
      // Emptied before it is sent: a refusal gives the words back.
      setDraft(EMPTY);
      session.send({
        type: "topic_change",
        conversation,
        attempt,
        how,
        topic: text.trim(),
        opinion,
        bot_opinion,
      });
      onClose();
    } else {
      const first = [!how, textMissing, !opinion, !bot_opinion].indexOf(true);
      form.current?.querySelector<HTMLInputElement>(`[data-part="${first}"] input`)?.focus();
    }
  };

  return (
    <Dialog title="What is the topic now?" onClose={onClose} long>
      <form ref={form} class="flow" onSubmit={save} noValidate>
        <div data-part={0}>
          <RadioCards
            legend="How did the topic change?"
            choices={KINDS}
            value={draft.how}
            onChange={(how) => set({ how })}
            complaint={need(!draft.how)}
          />
        </div>
        <div class="field" data-part={1}>
          <label class="label" for="new-topic">
            {same ? "The topic" : "New topic"}
          </label>
          <input
            id="new-topic"
            class="input"
            value={text}
            readOnly={same}
            maxLength={MAX_TOPIC}
            autocomplete="off"
            placeholder="A few words"
            aria-invalid={need(textMissing) ? "true" : undefined}
            aria-describedby="new-topic-complaint"
            onInput={(event) => set({ topic: event.currentTarget.value })}
          />
          <p class="complaint" id="new-topic-complaint">
            {need(textMissing, "Please write the topic.")}
          </p>
        </div>
        <div data-part={2}>
          <Opinions
            legend="How do you feel about it?"
            value={draft.opinion}
            onChange={(opinion) => set({ opinion })}
            complaint={need(!draft.opinion)}
          />
        </div>
        <div data-part={3}>
          <Opinions
            legend="How does the chatbot seem to feel about it?"
            value={draft.bot_opinion}
            onChange={(bot_opinion) => set({ bot_opinion })}
            complaint={need(!draft.bot_opinion)}
          />
        </div>
        <div class="actions">
          <Button
            kind="quiet"
            onClick={() => {
              setDraft(EMPTY);
              onClose();
            }}
          >
            Cancel
          </Button>
          <Button type="submit">Save topic</Button>
        </div>
      </form>
    </Dialog>
  );
}

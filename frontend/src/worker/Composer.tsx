import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { isEnter } from "../shared/keyboard";
import { useDraft, useSession, useTexts } from "./hooks";
import { MAX_SAY, roomIn } from "./limits";
import type { Writing } from "./session/protocol";
import type { Texts } from "./texts/words";
import { useWriting } from "./writing";

interface Props {
  conversation: number;
  /** Whether a line may be sent now. Typing is always possible. */
  ready: boolean;
  waiting: boolean;
  /** `writing`: how it was written, where the study records that. */
  onSend: (text: string, writing: Writing | null) => void;
}

/** How many characters are left when they begin to be counted. */
const COUNTED = 200;

/** Where the worker writes. Enter sends, Shift+Enter starts a new line. A text that is too long is not cut. */
export function Composer({ conversation, ready, waiting, onSend }: Props) {
  const session = useSession();
  const { notice } = session.state;
  const texts = useTexts();
  const { say } = texts;
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useDraft(`${conversation}:draft`, "");
  const takeWriting = useWriting(field, conversation);
  const tooLong = roomIn(text, MAX_SAY) < 0;
  const sendable = ready && text.trim() !== "" && !tooLong;

  // An input that was refused comes back, before whatever was typed since.
  useEffect(() => {
    const refused = session.takeRefusedText();
    if (refused) {
      setText([refused, text].filter(Boolean).join("\n"));
    }
  }, [notice?.key]);

  // Where there is a mouse, writing can start at once; on a phone that would raise the keyboard unasked.
  const begin = () => {
    if (window.matchMedia("(hover: hover) and (pointer: fine)").matches) {
      field.current?.focus();
    }
  };
  useEffect(begin, []);

  // What was pressed before the next line, such as the better of two replies, goes away with its focus.
  useEffect(() => {
    if (ready && document.activeElement === document.body) {
      begin();
    }
  }, [ready]);

  // As high as its lines, which are others once the page is wider or narrower.
  useLayoutEffect(() => {
    const grow = () => {
      const element = field.current;
      if (element) {
        element.style.height = "auto";
        element.style.height = `${element.scrollHeight + 2}px`;
      }
    };
    grow();
    window.addEventListener("resize", grow);
    return () => window.removeEventListener("resize", grow);
  }, [text]);

  const send = () => {
    if (sendable) {
      onSend(text.trim(), takeWriting());
      setText("");
    }
    field.current?.focus();
  };
  const key = (event: KeyboardEvent) => {
    if (isEnter(event) && !event.shiftKey) {
      event.preventDefault();
      send();
    }
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label class="unseen" for="message">
        {say("chat.message")}
      </label>
      <textarea
        ref={field}
        id="message"
        class="input composer-input"
        dir={text ? "auto" : undefined}
        rows={1}
        value={text}
        enterkeyhint="send"
        placeholder={say("chat.write")}
        aria-invalid={tooLong ? "true" : undefined}
        aria-describedby="composer-hint"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={key}
      />
      <button
        type="submit"
        class="button button-primary composer-send"
        aria-disabled={sendable ? undefined : "true"}
      >
        <span class="unseen">{say("chat.send")}</span>
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d="M12 19V5M5.5 11.5 12 5l6.5 6.5" />
        </svg>
      </button>
      <p class="composer-hint small soft" id="composer-hint" role="status">
        {hint(texts, waiting, text) ?? <span class="composer-keys">{say("chat.keys")}</span>}
      </p>
    </form>
  );
}

function hint({ say }: Texts, waiting: boolean, text: string) {
  const left = roomIn(text, MAX_SAY);
  if (left < 0) {
    return <strong class="composer-excess">{say("common.too_long", { n: -left })}</strong>;
  }
  if (left <= COUNTED) {
    return say("common.left", { n: left });
  }
  return waiting && text ? say("chat.wait") : null;
}

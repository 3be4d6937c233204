import { type ComponentChildren, Fragment } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Both, type Reporter } from "./Both";
import { useOverdue, useTexts } from "./hooks";
import { Reply } from "./Reply";
import type { TurnCard } from "./session/protocol";

interface Props {
  turns: TurnCard[];
  sending: TurnCard | null;
  typing: boolean;
  topic: string;
  /** The conversation started over with another chatbot. */
  again: boolean;
  /** What is asked about the last line. */
  below?: ComponentChildren;
  /** What is asked about each reply. */
  beside?: ((turn: TurnCard) => ComponentChildren) | undefined;
  /** By what a reply is reported. */
  report: Reporter;
}

const NEAR_END_PX = 60;
const LONG_MS = 12_000;
/** After so long a worker wonders whether to stay: the same for every chatbot, and for a person in its place. */
const VERY_LONG_MS = 40_000;

/** What has been said, and whether something is about to be. */
export function Log({ turns, sending, typing, topic, again, below, beside, report }: Props) {
  const { say } = useTexts();
  const box = useRef<HTMLDivElement>(null);
  // The reply may be faster than the acknowledgement of the line that it answers.
  const lines = [...turns, ...(sending ? [sending] : [])].sort((a, b) => a.turn - b.turn);
  const slow = useOverdue(typing, LONG_MS);
  const waiting = useOverdue(typing, VERY_LONG_MS);
  const ours = sending !== null || turns.at(-1)?.author === "worker";
  const atEnd = useRef(true);
  const top = useRef(0);
  const toEnd = () => box.current?.scrollTo({ top: box.current.scrollHeight });
  // A new line is followed unless the worker is reading further up.
  useLayoutEffect(() => {
    if (ours || atEnd.current) {
      toEnd();
    }
  }, [lines.length, typing, slow, waiting, below !== undefined]);
  // The box shrinks when a keyboard opens or the field below grows; the end stays in sight.
  useLayoutEffect(() => {
    const element = box.current;
    const observer = new ResizeObserver(() => {
      if (atEnd.current) {
        toEnd();
      }
    });
    if (element) {
      observer.observe(element);
    }
    return () => observer.disconnect();
  }, []);
  // Only a movement upwards leaves the end: the box may shrink before its last scrolling is told.
  const scrolled = ({ currentTarget }: { currentTarget: HTMLElement }) => {
    const { scrollHeight, scrollTop, clientHeight } = currentTarget;
    const near = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
    atEnd.current = near || (atEnd.current && scrollTop >= top.current);
    top.current = scrollTop;
  };
  return (
    <div
      ref={box}
      class="log"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, which needs the focus where there is no mouse
      tabIndex={0}
      role="log"
      aria-label={say("chat.log")}
      aria-live="polite"
      onScroll={scrolled}
    >
      {again && <p class="log-note small soft">{say("chat.again")}</p>}
      {lines.length === 0 && (
        <div class="log-empty">
          <p>{say("chat.begin")}</p>
          <p class="log-topic" dir="auto" translate={false}>
            {topic}
          </p>
        </div>
      )}
      {lines.map((turn) =>
        turn.right === null ? (
          <Fragment key={turn.turn}>
            <Bubble turn={turn} sending={turn === sending}>
              {turn.author === "bot" && report(turn, null)}
            </Bubble>
            {turn.author === "bot" && beside?.(turn)}
          </Fragment>
        ) : (
          <Both key={turn.turn} turn={turn} report={report} />
        ),
      )}
      {below}
      {typing && (
        <div class="bubble bubble-bot bubble-typing">
          <span class="unseen">{say("chat.writing")}</span>
          <span class="dots" aria-hidden="true">
            <span />
            <span />
            <span />
          </span>
          {slow && <span class="small soft">{say(waiting ? "chat.waiting" : "chat.slow")}</span>}
        </div>
      )}
    </div>
  );
}

interface BubbleProps {
  turn: TurnCard;
  sending: boolean;
  children: ComponentChildren;
}

function Bubble({ turn, sending, children }: BubbleProps) {
  const { say } = useTexts();
  const own = turn.author === "worker";
  return (
    <div class={`bubble ${own ? "bubble-own" : "bubble-bot"} ${sending ? "bubble-sending" : ""}`}>
      <span class="unseen">{`${say(own ? "chat.you" : "chat.chatbot")}: `}</span>
      {own ? (
        <span class="bubble-text" dir="auto" translate={false}>
          {turn.text}
        </span>
      ) : (
        <Reply text={turn.text} pace={turn.pace} shownFor={turn.shown_for} />
      )}
      {sending && <span class="bubble-state">{say("chat.sending")}</span>}
      {children}
    </div>
  );
}

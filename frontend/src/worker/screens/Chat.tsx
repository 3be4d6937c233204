import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Meter } from "../../design/Steps";
import { ChooseReply } from "../ChooseReply";
import { Composer } from "../Composer";
import { EndDialog } from "../EndDialog";
import { Heading } from "../Heading";
import { useSession, useTexts, useTitle } from "../hooks";
import { Log } from "../Log";
import { RateReply } from "../RateReply";
import { ReplySound } from "../ReplySound";
import { Report } from "../Report";
import type { StudyCard, Writing } from "../session/protocol";
import {
  type ChatScreen,
  inputsOf,
  isFull,
  lineUnderWay,
  maySpeak,
  topicOf,
  underWay,
} from "../session/reducer";
import { TopicDialog } from "../TopicDialog";

interface Props {
  chat: ChatScreen;
  study: StudyCard;
}

/** Whether there is room to read what a conversation is about beside it. */
function isWide(): boolean {
  return window.matchMedia("(min-width: 52.01rem)").matches;
}

/**
 * Leave the focus in the field while a button is pressed: on a short screen the header comes back with the end of
 * writing, and would move the button away from under the finger.
 */
function keepWriting(event: MouseEvent) {
  const pressed = (event.target as Element).closest("button");
  if (pressed && document.activeElement?.matches(".composer-input")) {
    event.preventDefault();
  }
}

/** A conversation. */
export function Chat({ chat, study }: Props) {
  const { conversation, attempt } = chat;
  const session = useSession();
  const { say } = useTexts();
  const replies = chat.turns.filter(({ author }) => author === "bot").length;
  useTitle(say("chat.tab", { now: conversation }), replies);
  const { state } = session;
  const [open, setOpen] = useState<"topic" | "end" | null>(null);
  const close = () => setOpen(null);
  const inputs = inputsOf(chat);
  const needed = study.minimum_inputs;
  const missing = Math.max(0, needed - inputs);
  const enough = missing === 0;
  const full = isFull(chat, study);
  const topic = topicOf(state, chat);
  const rates = study.rates_all && study.criteria.length > 0;
  const speak = (text: string, writing: Writing | null) => {
    const turn = (chat.turns.at(-1)?.turn ?? -1) + 1;
    session.send({ type: "say", conversation, attempt, turn, text, ...(writing && { writing }) });
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only keeps presses of the buttons within from moving them
    <div class={`chat ${open === "topic" ? "chat-under-sheet" : ""}`} onMouseDown={keepWriting}>
      <Heading unseen>{say("frame.conversation", { now: conversation, all: study.conversations })}</Heading>
      <section class="chat-side" aria-label={say("chat.side")}>
        <div class="chat-topic">
          <div>
            <p class="kicker">{say("chat.topic")}</p>
            <p class="chat-topic-text" translate={false}>
              <bdi>{topic}</bdi>
            </p>
          </div>
          <Button kind="secondary" onClick={() => setOpen("topic")}>
            <span class="chat-change">{say("chat.change")}</span>
            <svg class="chat-pencil" viewBox="0 0 24 24" aria-hidden="true">
              <path d="m15 5 4 4L8.5 19.5 4 20l.5-4.5Z" />
            </svg>
          </Button>
        </div>
        {chat.scenario !== null && (
          <details class="chat-scenario" open={isWide()}>
            <summary class="kicker">{say("scenario.title")}</summary>
            <p class="scenario-text small">{chat.scenario}</p>
          </details>
        )}
        <div class="chat-inputs">
          <p class="small">
            <strong class="chat-count">
              {inputs > needed
                ? say("chat.messages_more", { now: inputs })
                : say("chat.messages", { now: inputs, all: needed })}
            </strong>
            <strong class="chat-count-short" aria-hidden="true">
              {inputs > needed ? `✓ ${inputs}` : say("chat.count", { now: inputs, all: needed })}
            </strong>
            {enough && !full && <span class="soft chat-enough"> · {say("chat.enough")}</span>}
          </p>
          <Meter now={inputs} of={needed} />
        </div>
        <div class="chat-next">
          <Button kind={enough ? "primary" : "waiting"} onClick={() => setOpen("end")}>
            <span class="chat-finish">{say(rates ? "chat.finish_rate" : "chat.finish")}</span>
            <span class="chat-finish-short" aria-hidden="true">
              {say("chat.finish")}
            </span>
          </Button>
        </div>
        <p class="chat-tip soft small">{say(full ? "chat.full" : enough ? "chat.tip_enough" : "chat.tip")}</p>
        <ReplySound replies={replies} />
      </section>
      <p class="unseen" role="status">
        {full ? say("chat.full") : enough ? say("chat.enough_said") : ""}
      </p>
      <section class="chat-talk" aria-label={say("chat.talk")}>
        <Log
          turns={chat.turns}
          sending={lineUnderWay(state, chat)}
          typing={chat.replyDue}
          topic={topic}
          again={attempt > 1}
          report={(turn, side) => (
            <Report
              screen={chat}
              turn={turn.turn}
              side={side}
              text={(side === "right" ? turn.right : turn.text) ?? ""}
            />
          )}
          beside={
            study.turn_points !== null
              ? (turn) => <RateReply chat={chat} turn={turn} points={study.turn_points ?? 2} />
              : undefined
          }
          below={
            chat.choiceDue !== null && study.comparison ? (
              <ChooseReply chat={chat} turn={chat.choiceDue} comparison={study.comparison} />
            ) : undefined
          }
        />
        {full ? (
          <p class="composer-full">{say("chat.full")}</p>
        ) : (
          <Composer
            conversation={conversation}
            ready={maySpeak(state, chat)}
            waiting={chat.replyDue}
            onSend={speak}
          />
        )}
      </section>
      {open === "topic" && <TopicDialog chat={chat} topic={topic} onClose={close} />}
      {open === "end" && (
        <EndDialog
          study={study}
          chat={chat}
          missing={missing}
          last={conversation === study.conversations}
          replyDue={chat.replyDue}
          ending={underWay(state, "end_conversation", chat) !== null}
          onClose={close}
        />
      )}
    </div>
  );
}

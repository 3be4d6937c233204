import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Meter } from "../../design/Steps";
import { ChooseReply } from "../ChooseReply";
import { Composer } from "../Composer";
import { EndDialog } from "../EndDialog";
import { useSession, useTitle } from "../hooks";
import { Log } from "../Log";
import type { StudyCard } from "../session/protocol";
import { type ChatScreen, inputsOf, lineUnderWay, maySpeak, topicOf, underWay } from "../session/reducer";
import { TopicDialog } from "../TopicDialog";

interface Props {
  chat: ChatScreen;
  study: StudyCard;
}

/** A conversation. */
export function Chat({ chat, study }: Props) {
  const { conversation, attempt } = chat;
  useTitle(`Conversation ${conversation}`);
  const session = useSession();
  const { state } = session;
  const [open, setOpen] = useState<"topic" | "end" | null>(null);
  const close = () => setOpen(null);
  const inputs = inputsOf(chat);
  const needed = study.minimum_inputs;
  const enough = inputs >= needed;
  const topic = topicOf(state, chat);
  const speak = (text: string) => {
    const turn = (chat.turns.at(-1)?.turn ?? -1) + 1;
    session.send({ type: "say", conversation, attempt, turn, text });
  };
  return (
    <div class="chat">
      <h1 class="unseen">
        Conversation {conversation} of {study.conversations}
      </h1>
      <section class="chat-side" aria-label="This conversation">
        <div class="chat-topic">
          <div>
            <p class="kicker">Current topic</p>
            <p class="chat-topic-text">{topic}</p>
          </div>
          <Button kind="quiet" onClick={() => setOpen("topic")}>
            Topic
          </Button>
        </div>
        <div class="chat-inputs">
          <p class="small">
            <strong>{inputs > needed ? `Inputs ${inputs}` : `Inputs ${inputs} of ${needed}`}</strong>
            <span class="soft chat-enough">{enough ? " · enough to go on" : ""}</span>
          </p>
          <Meter now={inputs} of={needed} />
        </div>
        <div class="chat-next">
          <Button kind={enough ? "primary" : "quiet"} onClick={() => setOpen("end")}>
            {study.comparison === null ? "Next chatbot" : "Next two chatbots"}
          </Button>
        </div>
        <p class="chat-tip soft small">
          {enough
            ? "You can go on as long as you like, or move to the next chatbot."
            : "When the conversation moves to something new, record it with the Topic button."}
        </p>
      </section>
      <section class="chat-talk" aria-label="Chat">
        <Log
          turns={chat.turns}
          sending={lineUnderWay(state, chat)}
          typing={chat.replyDue}
          topic={topic}
          again={attempt > 1}
          below={
            chat.choiceDue !== null && study.comparison ? (
              <ChooseReply chat={chat} turn={chat.choiceDue} comparison={study.comparison} />
            ) : undefined
          }
        />
        <Composer
          conversation={conversation}
          ready={maySpeak(state, chat)}
          waiting={chat.replyDue}
          onSend={speak}
        />
      </section>
      {open === "topic" && <TopicDialog chat={chat} topic={topic} onClose={close} />}
      {open === "end" && (
        <EndDialog
          study={study}
          chat={chat}
          missing={Math.max(0, needed - inputs)}
          last={conversation === study.conversations}
          replyDue={chat.replyDue}
          ending={underWay(state, "end_conversation", chat) !== null}
          onClose={close}
        />
      )}
    </div>
  );
}

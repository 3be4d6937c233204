import { type ComponentChildren, Fragment } from "preact";
import { useTexts } from "./hooks";
import { Marked } from "./Marked";
import type { ItemLine, ItemTopic } from "./session/protocol";

interface Props {
  lines: ItemLine[];
  topics?: ItemTopic[];
  /** How the person is called. */
  person: "item.person" | "chat.you";
  /** By what a line is reported; nothing for those that are not. */
  report: (index: number, line: ItemLine) => ComponentChildren;
}

/** A finished conversation, to be read. */
export function Lines({ lines, topics = [], person, report }: Props) {
  const { say } = useTexts();
  return (
    <div class="item-lines">
      {lines.map((line, index) => {
        const { author, text } = line;
        const own = author === "worker";
        return (
          <Fragment key={index}>
            {topics
              .filter((one) => one.line === index)
              .map(({ topic }) => (
                <p key={`topic ${topic}`} class="item-topic small">
                  <Marked of={index === 0 ? "item.topic" : "item.new_topic"} values={{ topic }} />
                </p>
              ))}
            <div class={`bubble ${own ? "bubble-own" : "bubble-bot"}`}>
              <span class="item-author">{say(own ? person : "item.chatbot")}</span>
              <span class="unseen">: </span>
              <span class="bubble-text" dir="auto" translate={false}>
                {text}
              </span>
              {report(index, line)}
            </div>
          </Fragment>
        );
      })}
    </div>
  );
}

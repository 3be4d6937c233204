import type { ComponentChildren } from "preact";
import { useTexts } from "./hooks";
import { Lines } from "./Lines";
import type { ItemContent } from "./session/protocol";

interface Props {
  item: ItemContent;
  /** By what a line is reported; a text is one line. */
  report: (index: number, text: string) => ComponentChildren;
}

/** What is read and rated: a conversation somebody else has had, or a text, with what it was made from. */
export function Item({ item, report }: Props) {
  const { say } = useTexts();
  const { context, text, lines, topics } = item;
  return (
    <section class="item" aria-label={say(text === null ? "item.conversation" : "item.text")}>
      {context !== null && (
        <div class="item-context">
          <p class="kicker">{say("item.context")}</p>
          <p class="item-text" dir="auto" translate={false}>
            {context}
          </p>
        </div>
      )}
      {text !== null && (
        <blockquote class="item-text item-judged" dir="auto" translate={false}>
          {text}
          {report(0, text)}
        </blockquote>
      )}
      {lines.length > 0 && (
        <Lines
          lines={lines}
          topics={topics}
          person="item.person"
          report={(index, line) => report(index, line.text)}
        />
      )}
    </section>
  );
}

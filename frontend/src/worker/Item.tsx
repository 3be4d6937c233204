import type { ComponentChildren } from "preact";
import { wordsOf } from "../design/marks";
import { useTexts } from "./hooks";
import { Lines } from "./Lines";
import type { Highlight, ItemContent } from "./session/protocol";

interface Props {
  item: ItemContent;
  /** By what a line is reported; a text is one line. */
  report: (index: number, text: string) => ComponentChildren;
  /** Whether it is the answer to a question, which is judged by paragraphs. */
  judged: boolean;
}

/** What is read and rated: a conversation somebody else has had, or a text, with what it was made from. */
export function Item({ item, report, judged }: Props) {
  const { say } = useTexts();
  const { context, highlight, paragraphs, text, lines, topics } = item;
  return (
    <section class="item" aria-label={say(text === null ? "item.conversation" : "item.text")}>
      {context !== null && (
        <div class="item-context">
          <p class="kicker">{say(judged ? "correctness.question" : "item.context")}</p>
          <p class="item-text" dir="auto" translate={false}>
            {highlight === null ? context : <Highlighted text={context} highlight={highlight} />}
          </p>
        </div>
      )}
      {!judged && paragraphs.length > 0 && (
        <div class="item-context">
          {paragraphs.map((paragraph, line) => (
            <p key={line} class="item-text passage" dir="auto" translate={false}>
              {paragraph}
            </p>
          ))}
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

/** A text with some of its characters, counted in code points, highlighted: the answer that a question asks for. */
function Highlighted({ text, highlight: { start, end } }: { text: string; highlight: Highlight }) {
  return (
    <>
      {wordsOf(text, { start: 0, end: start })}
      <mark class="item-highlight">{wordsOf(text, { start, end })}</mark>
      {wordsOf(text, { start: end, end: text.length })}
    </>
  );
}

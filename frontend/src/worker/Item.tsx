import { Fragment } from "preact";
import type { ItemContent } from "./session/protocol";

/** What is read and rated: a conversation somebody else has had, or a text, with what it was made from. */
export function Item({ item }: { item: ItemContent }) {
  const { context, text, lines } = item;
  return (
    <section class="item" aria-label={text === null ? "The conversation" : "The text"}>
      {context !== null && (
        <div class="item-context">
          <p class="kicker">What it is based on</p>
          <p class="item-text">{context}</p>
        </div>
      )}
      {text !== null && <blockquote class="item-text item-judged">{text}</blockquote>}
      {lines.length > 0 && <Lines item={item} />}
    </section>
  );
}

function Lines({ item: { lines, topics } }: { item: ItemContent }) {
  return (
    <div class="item-lines">
      {lines.map(({ author, text }, index) => {
        const own = author === "worker";
        return (
          <Fragment key={index}>
            {topics
              .filter(({ line }) => line === index)
              .map(({ topic }) => (
                <p key={`topic ${topic}`} class="item-topic small">
                  {index === 0 ? "Topic" : "New topic"}: <strong>{topic}</strong>
                </p>
              ))}
            <div class={`bubble ${own ? "bubble-own" : "bubble-bot"}`}>
              <span class="item-author">{own ? "Person" : "Chatbot"}</span>
              <span class="unseen">: </span>
              {text}
            </div>
          </Fragment>
        );
      })}
    </div>
  );
}

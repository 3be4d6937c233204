import type { ComponentChildren } from "preact";
import { Guard } from "./Guard";
import { useMarkdown } from "./Reply";

/** What makes a text Markdown: a heading, a list, something bold, a link. */
const MARKED = /^#{1,6} |^ *[-*+] |^ *\d+[.)] |\*\*\S|\]\(|https?:\/\//m;

/** A text of the researcher's: in paragraphs, with headings, lists and links where it is written so. */
export function Paragraphs({ text }: { text: string }) {
  const render = useMarkdown(MARKED.test(text))?.researchersMarkdown;
  return render ? (
    <Guard part="text" fallback={<Plain text={text} />}>
      <div class="reply-rich flow-small" dir="auto">
        <Written text={text} render={render} />
      </div>
    </Guard>
  ) : (
    <Plain text={text} />
  );
}

function Written({ text, render }: { text: string; render: (text: string) => ComponentChildren }) {
  return <>{render(text)}</>;
}

function Plain({ text }: { text: string }) {
  return (
    <>
      {text.split(/\n\s*\n/).map((paragraph, index) => (
        <p key={index} class="paragraph" dir="auto">
          {paragraph}
        </p>
      ))}
    </>
  );
}

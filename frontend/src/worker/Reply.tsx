import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Guard } from "./Guard";
import { useSession } from "./hooks";

interface Props {
  text: string;
  /** Milliseconds a word, where it appears word by word; null: at once. */
  pace: number | null;
  /** Milliseconds since it began to appear, when it was told. */
  shownFor: number | null;
}

type Renderer = (text: string) => ComponentChildren;

/**
 * What a chatbot has said, as the study shows replies: as it is, or as Markdown; at once, or word by word at
 * the server's pace. Who listens to the page, or wants no motion, has it all at once.
 */
export function Reply({ text, pace, shownFor }: Props) {
  const { study } = useSession().state;
  const render = useMarkdown(study?.display.markdown ?? false)?.markdown ?? null;
  const shown = useWords(text, pace, shownFor);
  if (shown === text) {
    return (
      <div class={render ? "bubble-text reply-rich" : "bubble-text"} dir="auto" translate={false}>
        {render ? <Rendered text={text} render={render} /> : text}
      </div>
    );
  }
  return (
    <div class={render ? "bubble-text reply-rich" : "bubble-text"} dir="auto" translate={false}>
      <span class="unseen">{text}</span>
      <span aria-hidden="true">{render ? <Rendered text={shown} render={render} /> : shown}</span>
    </div>
  );
}

/** A text as its renderer draws it; as it is where that fails. */
function Rendered({ text, render }: { text: string; render: Renderer }) {
  return (
    <Guard part="reply" fallback={text}>
      <Drawn text={text} render={render} />
    </Guard>
  );
}

function Drawn({ text, render }: { text: string; render: Renderer }) {
  return <>{render(text)}</>;
}

/** What draws Markdown: replies, and researchers' own texts. */
interface Renderers {
  markdown: Renderer;
  researchersMarkdown: Renderer;
}

let loaded: Renderers | null = null;

/**
 * Return what draws Markdown. It is loaded only where a study asks for it; the page calls this before there is any
 * reply, because until it is there a reply is shown as it is written.
 */
export function useMarkdown(wanted: boolean): Renderers | null {
  const [, draw] = useState(false);
  useEffect(() => {
    if (wanted && !loaded) {
      // Where it cannot be loaded, the text stays as it is.
      import("./markdown").then(
        (module) => {
          loaded = module;
          draw(true);
        },
        () => undefined,
      );
    }
  }, [wanted]);
  return wanted ? loaded : null;
}

/** The beginning of `text` that is shown by now; all of it in the end. */
function useWords(text: string, pace: number | null, shownFor: number | null): string {
  const began = useRef(performance.now() - (shownFor ?? 0));
  const [, draw] = useState(0);
  const still = pace === null || matchMedia("(prefers-reduced-motion: reduce)").matches;
  const words = still ? [] : [...text.matchAll(/\S+\s*/g)];
  const due = still ? 0 : 1 + Math.floor((performance.now() - began.current) / pace);
  const done = due >= words.length;
  useEffect(() => {
    if (done) {
      return undefined;
    }
    const timer = setInterval(() => draw((count) => count + 1), pace ?? 0);
    return () => clearInterval(timer);
  }, [done, pace]);
  return done
    ? text
    : words
        .slice(0, due)
        .map(([word]) => word)
        .join("");
}

import { useRef } from "preact/hooks";
import type { Editor } from "./editor";

/** The study as the text that is stored: numbered lines, those with a mistake marked. */
export function YamlEditor({ editor }: { editor: Editor }) {
  const area = useRef<HTMLTextAreaElement>(null);
  const gutter = useRef<HTMLDivElement>(null);
  const lines = editor.text.split("\n").length;
  const wrong = new Map(editor.mistakes.map(({ line, reason }) => [line, reason]));
  const goTo = (line: number) => {
    const element = area.current;
    if (element) {
      const start =
        editor.text
          .split("\n")
          .slice(0, line - 1)
          .join("\n").length + (line > 1 ? 1 : 0);
      const end = editor.text.indexOf("\n", start);
      element.focus();
      element.setSelectionRange(start, end === -1 ? editor.text.length : end);
      const height = element.scrollHeight / Math.max(1, lines);
      element.scrollTop = Math.max(0, (line - 4) * height);
    }
  };
  return (
    <div class="yaml">
      <div class="yaml-box">
        <div class="yaml-gutter" ref={gutter} aria-hidden="true">
          {Array.from({ length: lines }, (_, index) => (
            <span
              key={index}
              class={wrong.has(index + 1) ? "yaml-wrong" : undefined}
              title={wrong.get(index + 1)}
            >
              {index + 1}
            </span>
          ))}
        </div>
        <textarea
          ref={area}
          class="yaml-text"
          aria-label="The study as YAML"
          aria-describedby="yaml-mistakes"
          spellcheck={false}
          autocapitalize="off"
          wrap="off"
          value={editor.text}
          onInput={(event) => editor.write(event.currentTarget.value)}
          onScroll={(event) => {
            if (gutter.current) {
              gutter.current.scrollTop = event.currentTarget.scrollTop;
            }
          }}
        />
      </div>
      <div id="yaml-mistakes">
        <Mistakes editor={editor} onGo={goTo} />
      </div>
    </div>
  );
}

/** What is wrong, line by line; pressing one leads to its line. */
export function Mistakes({ editor, onGo }: { editor: Editor; onGo: (line: number) => void }) {
  if (editor.mistakes.length === 0) {
    return <p class="soft small">{editor.busy ? "Checking…" : "No mistakes."}</p>;
  }
  return (
    <ul class="mistakes">
      {editor.mistakes.map(({ line, path, reason }) => (
        <li key={`${line} ${path.join(".")} ${reason}`}>
          <button type="button" onClick={() => onGo(line ?? 1)}>
            {line !== null && <span class="mistake-line">Line {line}</span>}
            <span>
              {path.length > 0 && <code>{path.join(".")}</code>} {reason}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

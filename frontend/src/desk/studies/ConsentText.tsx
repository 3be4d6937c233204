import { Bold, Heading, Link2, List, Upload } from "lucide";
import { useId, useRef } from "preact/hooks";
import { Button } from "../../design/Button";
import { Icon } from "../../design/Icon";
import { Field, mistakesAt, type SettingProps } from "./Field";

/** What a button of the toolbar writes: around the chosen words, or before each chosen line. */
interface Mark {
  name: string;
  icon: typeof Bold;
  /** What is written where nothing is chosen. */
  example: string;
  around?: [string, string];
  before?: string;
}

const MARKS: Mark[] = [
  { name: "Heading", icon: Heading, example: "Heading", before: "## " },
  { name: "Bold", icon: Bold, example: "important", around: ["**", "**"] },
  { name: "List", icon: List, example: "First point", before: "- " },
  { name: "Link", icon: Link2, example: "words of the link", around: ["[", "](https://)"] },
];

/** A text for workers with headings, lists and links, in Markdown, as the preview shows it at once. */
export function ConsentText({ editor, root, path, value }: SettingProps & { value: unknown }) {
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const file = useRef<HTMLInputElement>(null);
  const text = typeof value === "string" ? value : "";
  const write = (next: string, from?: number, to = from) => {
    editor.set(path, next);
    requestAnimationFrame(() => {
      if (from !== undefined) {
        area.current?.focus();
        area.current?.setSelectionRange(from, to ?? from);
      }
    });
  };
  const mark = ({ around, before, example }: Mark) => {
    const { selectionStart: start = text.length, selectionEnd: end = text.length } = area.current ?? {};
    if (around) {
      const words = text.slice(start, end) || example;
      const at = start + around[0].length;
      write(text.slice(0, start) + around[0] + words + around[1] + text.slice(end), at, at + words.length);
    } else {
      const line = text.lastIndexOf("\n", start - 1) + 1;
      const lines = text.slice(line, end) || example;
      const marked = lines.replaceAll(/^/gm, before ?? "");
      // A heading or a list begins after an empty line.
      const gap =
        line === 0 || text.slice(0, line).endsWith("\n\n") || text.startsWith(before ?? "", line) ? "" : "\n";
      const from = line + gap.length;
      write(
        text.slice(0, line) + gap + marked + text.slice(end),
        from + (before ?? "").length,
        from + marked.length,
      );
    }
  };
  return (
    <Field path={path} root={root} editor={editor} id={id}>
      <div class="consent-tools" role="toolbar" aria-label="Layout of the text">
        {MARKS.map((each) => (
          <Button key={each.name} kind="quiet" onClick={() => mark(each)}>
            <Icon of={each.icon} />
            <span class="only-wide-words">{each.name}</span>
          </Button>
        ))}
        <Button kind="quiet" onClick={() => file.current?.click()}>
          <Icon of={Upload} />
          <span class="only-wide-words">Upload a text file</span>
        </Button>
        <input
          ref={file}
          type="file"
          hidden
          accept=".txt,.md,text/plain,text/markdown"
          aria-label="Text file of the consent form"
          onChange={async ({ currentTarget }) => {
            const read = await currentTarget.files?.[0]?.text();
            currentTarget.value = "";
            if (read) {
              write(read.replaceAll("\r\n", "\n").trim());
            }
          }}
        />
      </div>
      <textarea
        ref={area}
        id={id}
        name={path.join(".")}
        class="input"
        rows={Math.min(18, Math.max(6, text.split("\n").length + 1))}
        value={text}
        aria-invalid={mistakesAt(editor.mistakes, path) ? "true" : undefined}
        aria-describedby={`${id}-hint ${id}-complaint`}
        onInput={({ currentTarget }) => editor.set(path, currentTarget.value)}
      />
    </Field>
  );
}

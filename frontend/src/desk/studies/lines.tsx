import { useId, useState } from "preact/hooks";
import { numberIn } from "../../shared/numbers";
import { Field, mistakesAt, type SettingProps } from "./Field";
import { labelFor } from "./items";
import { layoutOf } from "./layout";
import { nameOf, wordAt } from "./names";
import { isWithin, wordsOf } from "./settings";

/** A text or a number on a line, or on several. */
export function Line({
  editor,
  root,
  schema,
  path,
  suggestions,
  required,
  value,
  label,
}: SettingProps & { value: unknown; label?: string }) {
  const id = useId();
  const isNumber = schema.type === "integer" || schema.type === "number";
  const [typed, setTyped] = useState({ text: "", value: undefined as unknown });
  // What was typed stays as it was typed, such as the 1.0 on the way to 1.05, until the value comes from elsewhere.
  const text =
    typed.value === value ? typed.text : value === undefined || value === null ? "" : String(value);
  const unwritten = editor.shipped?.[path.join(".")] ?? schema.default ?? undefined;
  const set = (written: string) => {
    const next = (isNumber ? numberIn(written) : undefined) ?? written;
    const isRemoved = written === "" && (!required || unwritten !== undefined);
    setTyped({ text: written, value: isRemoved ? undefined : next });
    if (isRemoved) {
      editor.remove(path);
    } else {
      editor.set(path, next);
      const { labels } = layoutOf(path);
      const label = labels && labelFor(editor.content, path.slice(0, -1), text, written, labels);
      if (label) {
        editor.set([...path.slice(0, -1), "label"], label);
      }
    }
  };
  const common = {
    id,
    name: path.join("."),
    class: "input",
    value: text,
    "aria-invalid": mistakesAt(editor.mistakes, path) ? ("true" as const) : undefined,
    "aria-describedby": `${id}-hint ${id}-complaint`,
    placeholder: unwritten === undefined ? undefined : String(unwritten),
  };
  return (
    <Field path={path} root={root} editor={editor} id={id} label={label}>
      {layoutOf(path).long ? (
        <textarea
          {...common}
          rows={Math.min(12, Math.max(2, text.split("\n").length + 1))}
          onInput={(event) => set(event.currentTarget.value)}
        />
      ) : (
        <input
          {...common}
          inputMode={isNumber ? "decimal" : undefined}
          list={suggestions[String(path.at(-1))]}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => set(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** One of several words. */
export function Words({ editor, root, schema, path, value }: SettingProps & { value: unknown }) {
  const id = useId();
  const now = value ?? schema.default ?? "";
  const words = wordsOf(schema);
  return (
    <Field path={path} root={root} editor={editor} id={id}>
      <select
        id={id}
        name={path.join(".")}
        class="input"
        value={String(now)}
        aria-describedby={`${id}-hint ${id}-complaint`}
        onChange={(event) => editor.set(path, event.currentTarget.value)}
      >
        {!words.includes(String(now)) && (
          <option value={String(now)}>{String(now) || layoutOf(path).none || "–"}</option>
        )}
        {words.map((word) => (
          <option key={word} value={word}>
            {wordAt(path, word, root)}
          </option>
        ))}
      </select>
    </Field>
  );
}

/** A text that is mostly one of several, each with a name; others are written. */
export function Listed(props: SettingProps & { value: unknown }) {
  const { editor, root, schema, path, value } = props;
  const id = useId();
  const names = Object.entries(schema["x-words"] ?? {}).sort(([, one], [, other]) =>
    one.localeCompare(other),
  );
  const now = String(value ?? schema.default ?? "");
  const [other, setOther] = useState(false);
  const isOther = other || !names.some(([word]) => word === now);
  return (
    <>
      <Field path={path} root={root} editor={{ ...editor, mistakes: isOther ? [] : editor.mistakes }} id={id}>
        <select
          id={id}
          name={path.join(".")}
          class="input"
          value={isOther ? "" : now}
          aria-describedby={`${id}-hint ${id}-complaint`}
          onChange={({ currentTarget: { value: chosen } }) => {
            setOther(chosen === "");
            if (chosen !== "") {
              editor.set(path, chosen);
            }
          }}
        >
          {names.map(([word, name]) => (
            <option key={word} value={word}>
              {name}
            </option>
          ))}
          <option value="">Other…</option>
        </select>
      </Field>
      {isOther && <Line {...props} label={`Other ${nameOf(path, root).label.toLowerCase()}`} />}
    </>
  );
}

/** Yes or no. */
export function Tick({ editor, root, schema, path, value }: SettingProps & { value: unknown }) {
  const { label, hint } = nameOf(path, root);
  return (
    <div class="field">
      <label class="tick">
        <input
          type="checkbox"
          name={path.join(".")}
          checked={(value ?? schema.default) === true}
          onChange={(event) => editor.set(path, event.currentTarget.checked)}
        />
        <span>{label}</span>
      </label>
      {hint && <p class="soft small">{hint}</p>}
      <p class="complaint">{mistakesAt(editor.mistakes, path)}</p>
    </div>
  );
}

/** A list of texts: one on each line. */
export function Lines({ editor, root, schema, path, value, required }: SettingProps & { value: unknown[] }) {
  const id = useId();
  const set = (written: string) =>
    written === "" && !required ? editor.remove(path) : editor.set(path, written.split("\n"));
  return (
    <Field path={path} root={root} editor={editor} id={id}>
      <textarea
        id={id}
        name={path.join(".")}
        class="input"
        rows={Math.min(12, value.length + 2)}
        value={value.map(String).join("\n")}
        aria-describedby={`${id}-lines ${id}-complaint`}
        placeholder={Array.isArray(schema.default) ? schema.default.join("\n") : undefined}
        onInput={(event) => set(event.currentTarget.value)}
      />
      <p class="soft small" id={`${id}-lines`}>
        One on each line.
      </p>
      {editor.mistakes
        .filter((mistake) => mistake.path.length === path.length + 1 && isWithin(mistake.path, path))
        .map(({ path: where, reason }) => (
          <p class="complaint" key={String(where.at(-1))}>
            Line {Number(where.at(-1)) + 1}: {reason}
          </p>
        ))}
    </Field>
  );
}

/** A mapping in which anything may stand: written as JSON. What is none is told as a mistake. */
export function Json({ editor, root, path, value }: SettingProps & { value: unknown }) {
  const id = useId();
  const [typed, setTyped] = useState({ text: "", value: undefined as unknown });
  // What was typed stays as it was typed, until the value comes from elsewhere, as by undoing.
  const text = typed.value === value ? typed.text : typeof value === "string" ? value : asJson(value);
  const set = (written: string) => {
    const next = written.trim() === "" ? undefined : fromJson(written);
    setTyped({ text: written, value: next });
    if (next === undefined) {
      editor.remove(path);
    } else {
      editor.set(path, next);
    }
  };
  return (
    <Field path={path} root={root} editor={editor} id={id}>
      <textarea
        id={id}
        name={path.join(".")}
        class="input"
        rows={Math.min(12, text.split("\n").length + 1)}
        value={text}
        spellcheck={false}
        placeholder={'{"name": "value"}'}
        aria-describedby={`${id}-hint ${id}-complaint`}
        aria-invalid={mistakesAt(editor.mistakes, path) ? "true" : undefined}
        onInput={(event) => set(event.currentTarget.value)}
      />
    </Field>
  );
}

function asJson(value: unknown): string {
  return value === undefined ? "" : JSON.stringify(value, null, 2);
}

/** The value of a text; where it is no JSON, the text itself, which is no mapping either. */
function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

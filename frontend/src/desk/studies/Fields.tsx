import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import type { MistakeView } from "../api_types";
import type { Editor } from "./editor";
import { nameOf } from "./names";
import {
  alternatives,
  beginning,
  fits,
  freeParts,
  isWithin,
  type Path,
  type Schema,
  samePath,
  valueAt,
  wordsOf,
} from "./settings";

interface Props {
  editor: Editor;
  root: Schema;
  schema: Schema;
  path: Path;
  /** Names that can be chosen from while writing, by the last part of a path. */
  suggestions: Record<string, string>;
  required?: boolean;
}

/** What is wrong at a place, in words. */
function mistakesAt(mistakes: MistakeView[], path: Path): string {
  return mistakes
    .filter((mistake) => samePath(mistake.path, path))
    .map(({ reason }) => reason.charAt(0).toUpperCase() + reason.slice(1))
    .join(". ");
}

/** A setting, whatever it is. */
export function Setting(props: Props) {
  const { editor, root, schema, path } = props;
  const choices = alternatives(schema, root);
  const value = valueAt(editor.content, path);
  const [only] = choices;
  if (choices.length > 1) {
    return <Choice {...props} choices={choices} value={value} />;
  }
  return only ? (
    <Plain {...props} schema={{ ...only, default: only.default ?? schema.default }} value={value} />
  ) : null;
}

function Plain(props: Props & { value: unknown }) {
  const { schema, value } = props;
  if (schema.properties) {
    return <Group {...props} />;
  }
  if (freeParts(schema)) {
    return <Named {...props} />;
  }
  if (schema.type === "array") {
    return <List {...props} value={Array.isArray(value) ? value : []} />;
  }
  if (schema.type === "boolean") {
    return <Tick {...props} />;
  }
  return wordsOf(schema).length > 0 ? <Words {...props} /> : <Line {...props} />;
}

function Field({
  path,
  editor,
  id,
  children,
}: {
  path: Path;
  editor: Editor;
  id: string;
  children: ComponentChildren;
}) {
  const { label, hint } = nameOf(path);
  return (
    <div class="field">
      <label class="label" for={id}>
        {label}
      </label>
      {children}
      {hint && (
        <p class="soft small" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <p class="complaint" id={`${id}-complaint`}>
        {mistakesAt(editor.mistakes, path)}
      </p>
    </div>
  );
}

/** A text or a number on a line, or on several. */
function Line({ editor, schema, path, suggestions, required, value }: Props & { value: unknown }) {
  const id = useId();
  const isNumber = schema.type === "integer" || schema.type === "number";
  const text = value === undefined || value === null ? "" : String(value);
  const set = (written: string) => {
    if (written === "" && !required) {
      editor.remove(path);
    } else {
      const number = Number(written);
      editor.set(path, isNumber && written.trim() !== "" && !Number.isNaN(number) ? number : written);
    }
  };
  const common = {
    id,
    class: "input",
    value: text,
    "aria-invalid": mistakesAt(editor.mistakes, path) ? ("true" as const) : undefined,
    "aria-describedby": `${id}-hint ${id}-complaint`,
    placeholder: schema.default === undefined || schema.default === null ? undefined : String(schema.default),
  };
  return (
    <Field path={path} editor={editor} id={id}>
      {nameOf(path).long ? (
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

function Words({ editor, schema, path, value }: Props & { value: unknown }) {
  const id = useId();
  return (
    <Field path={path} editor={editor} id={id}>
      <select
        id={id}
        class="input"
        value={String(value ?? schema.default ?? "")}
        aria-describedby={`${id}-hint ${id}-complaint`}
        onChange={(event) => editor.set(path, event.currentTarget.value)}
      >
        {value !== undefined && !wordsOf(schema).includes(String(value)) && <option>{String(value)}</option>}
        {wordsOf(schema).map((word) => (
          <option key={word} value={word}>
            {word.replaceAll("_", " ")}
          </option>
        ))}
      </select>
    </Field>
  );
}

function Tick({ editor, schema, path, value }: Props & { value: unknown }) {
  const { label, hint } = nameOf(path);
  return (
    <div class="field">
      <label class="tick">
        <input
          type="checkbox"
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

interface Option {
  name: string;
  choice: Schema;
  /** The word that it is; null where something is to be filled in. */
  word: string | null;
}

/** A setting that may be one of several things: which one is chosen, then it is filled in. */
function Choice(props: Props & { choices: Schema[]; value: unknown }) {
  const { editor, root, path, choices, value, schema } = props;
  const id = useId();
  const options = choices.flatMap((choice): Option[] => {
    const words = wordsOf(choice);
    return words.length > 0
      ? words.map((word) => ({ name: word, choice, word }))
      : [{ name: titleOf(choice), choice, word: null }];
  });
  const written = value ?? schema.default;
  const now = options.findIndex(({ choice, word }) =>
    word === null ? fits(written, choice) : word === written,
  );
  const current = options[now];
  return (
    <>
      <Field path={path} editor={editor} id={id}>
        <select
          id={id}
          class="input"
          value={String(now)}
          aria-describedby={`${id}-hint ${id}-complaint`}
          onChange={(event) => {
            const chosen = options[Number(event.currentTarget.value)];
            if (chosen) {
              editor.set(path, chosen.word ?? beginning(chosen.choice, root));
            } else {
              editor.remove(path);
            }
          }}
        >
          {now === -1 && <option value="-1">–</option>}
          {options.map(({ name }, index) => (
            <option key={name} value={String(index)}>
              {name}
            </option>
          ))}
        </select>
      </Field>
      {current && current.word === null && value !== undefined && (
        <Plain {...props} schema={current.choice} />
      )}
    </>
  );
}

function titleOf(schema: Schema): string {
  const kind = schema.properties?.kind?.const;
  if (typeof kind === "string") {
    return kind;
  }
  return schema.type === "array" ? "its own" : schema.properties ? "by number" : "written out";
}

/** A section with settings of fixed names; it opens when it is wanted. */
function Group(props: Props) {
  const { editor, schema, path, root } = props;
  const { label, hint } = nameOf(path);
  const inner = editor.mistakes.filter(
    (mistake) => isWithin(mistake.path, path) && mistake.path.length > path.length,
  );
  const [open, setOpen] = useState(false);
  const shown = open || inner.length > 0;
  return (
    <details class="study-group" open={shown} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="label">{label}</span>
        {hint && <span class="soft small"> {hint}</span>}
      </summary>
      {shown && (
        <div class="study-fields">
          <Settings {...props} schema={schema} root={root} path={path} />
        </div>
      )}
      <p class="complaint">{mistakesAt(editor.mistakes, path)}</p>
    </details>
  );
}

/** The settings of a mapping, one under the other. */
function Settings(props: Props) {
  const { schema, path } = props;
  return (
    <>
      {Object.entries(schema.properties ?? {})
        .filter(([name]) => name !== "kind")
        .map(([name, part]) => (
          <Setting
            {...props}
            key={name}
            schema={part}
            path={[...path, name]}
            required={schema.required?.includes(name) ?? false}
          />
        ))}
    </>
  );
}

/** A list: of lines of text, or of things with settings, each of which opens by itself. */
function List(props: Props & { value: unknown[] }) {
  const { editor, schema, path, root, value } = props;
  const item = alternatives(schema.items ?? {}, root)[0] ?? {};
  const { label } = nameOf(path);
  const [open, setOpen] = useState<number | null>(null);
  const complaint = mistakesAt(editor.mistakes, path);
  if (item.type === "string") {
    return <Lines {...props} value={value} />;
  }
  const add = (added: unknown) => {
    editor.set([...path, value.length], added);
    setOpen(value.length);
  };
  const swap = (index: number, other: number) => {
    const moved = [...value];
    [moved[index], moved[other]] = [moved[other], moved[index]];
    editor.set([...path, index], moved[index]);
    editor.set([...path, other], moved[other]);
    setOpen(other);
  };
  const one = singular(label);
  return (
    <div class="study-list">
      <p class="complaint">{complaint}</p>
      <ol>
        {value.map((each, index) => {
          const here = [...path, index];
          const wrong = editor.mistakes.some((mistake) => isWithin(mistake.path, here));
          const shown = open === index;
          return (
            <li key={index} class={wrong ? "study-item study-item-wrong" : "study-item"}>
              <button
                type="button"
                class="study-item-head"
                aria-expanded={shown}
                onClick={() => setOpen(shown ? null : index)}
              >
                <span class="study-item-name">{summary(each) || `${one} ${index + 1}`}</span>
                {wrong && <span class="complaint">to be mended</span>}
              </button>
              {shown && (
                <div class="study-fields">
                  {item.properties ? (
                    <Settings {...props} schema={item} path={here} />
                  ) : (
                    <Setting {...props} schema={item} path={here} />
                  )}
                  <div class="actions">
                    <Button kind="quiet" onClick={() => add(copyOf(each))}>
                      Duplicate
                    </Button>
                    <Button kind="quiet" off={index === 0} onClick={() => swap(index, index - 1)}>
                      Move up
                    </Button>
                    <Button
                      kind="quiet"
                      off={index === value.length - 1}
                      onClick={() => swap(index, index + 1)}
                    >
                      Move down
                    </Button>
                    <Button
                      kind="plain"
                      onClick={() => {
                        editor.remove(here);
                        setOpen(null);
                      }}
                    >
                      Remove
                    </Button>
                  </div>
                </div>
              )}
            </li>
          );
        })}
      </ol>
      <div class="actions">
        <Button kind="quiet" onClick={() => add(beginning(item, root))}>
          {`Add: ${one.toLowerCase()}`}
        </Button>
      </div>
    </div>
  );
}

/** A list of texts: one on each line. */
function Lines({ editor, path, value }: Props & { value: unknown[] }) {
  const id = useId();
  return (
    <Field path={path} editor={editor} id={id}>
      <textarea
        id={id}
        class="input"
        rows={Math.min(12, value.length + 2)}
        value={value.map(String).join("\n")}
        aria-describedby={`${id}-lines ${id}-complaint`}
        onInput={(event) => editor.set(path, event.currentTarget.value.split("\n"))}
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

/** A mapping whose names are the researcher's own. */
function Named(props: Props & { value: unknown }) {
  const { editor, schema, path, root, value } = props;
  const id = useId();
  const [name, setName] = useState("");
  const part = freeParts(schema) ?? {};
  const { label, hint } = nameOf(path);
  const entries = typeof value === "object" && value !== null ? Object.keys(value) : [];
  return (
    <details class="study-group" open={entries.length > 0}>
      <summary>
        <span class="label">{label}</span> {hint && <span class="soft small">{hint}</span>}
      </summary>
      <div class="study-fields">
        <p class="complaint">{mistakesAt(editor.mistakes, path)}</p>
        {entries.map((each) => (
          <div class="study-named" key={each}>
            <Setting {...props} schema={part} path={[...path, each]} required />
            <Button kind="plain" onClick={() => editor.remove([...path, each])}>
              {`Remove ${each}`}
            </Button>
          </div>
        ))}
        <form
          class="study-add"
          onSubmit={(event) => {
            event.preventDefault();
            if (name.trim()) {
              editor.set([...path, name.trim()], beginning(part, root));
              setName("");
            }
          }}
        >
          <label class="label" for={id}>
            Add by name
          </label>
          <input
            id={id}
            class="input"
            value={name}
            autocomplete="off"
            onInput={(event) => setName(event.currentTarget.value)}
          />
          <Button type="submit" kind="quiet">
            Add
          </Button>
        </form>
      </div>
    </details>
  );
}

const SINGULAR: Record<string, string> = {
  Criteria: "Criterion",
  Personas: "Persona",
  "Boxes to tick": "Box",
};

function singular(label: string): string {
  return SINGULAR[label] ?? label.replace(/s$/, "");
}

/** What a thing in a list is called when it is closed. */
function summary(value: unknown): string {
  if (Array.isArray(value)) {
    return value.map(String).join(" ");
  }
  if (typeof value !== "object" || value === null) {
    return String(value ?? "");
  }
  return Object.values(value)
    .filter((part) => typeof part === "string" && part !== "")
    .slice(0, 3)
    .join(" · ");
}

/** A copy, under a name of its own. */
function copyOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return value;
  }
  const copy = { ...value } as Record<string, unknown>;
  for (const key of ["name", "label"]) {
    if (typeof copy[key] === "string") {
      copy[key] = `${copy[key]}_copy`;
    }
  }
  return copy;
}

import { useId, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { isEnter } from "../../shared/keyboard";
import { EndpointFields } from "../bots/EndpointFields";
import { Field, mistakesAt, type SettingProps } from "./Field";
import { copyOf, shippedWithin, singular, summary, titleOf } from "./items";
import { Json, Line, Lines, Tick, Words } from "./lines";
import { nameOf } from "./names";
import {
  alternatives,
  beginning,
  fits,
  freeParts,
  isFree,
  isOptional,
  isWithin,
  partsOf,
  type Schema,
  valueAt,
  wordsOf,
} from "./settings";

/** A setting, whatever it is. */
export function Setting(props: SettingProps) {
  const { editor, root, schema, path } = props;
  if (path.length === 2 && path[0] === "bots") {
    return <OwnBot {...props} />;
  }
  const choices = alternatives(schema, root);
  const value = valueAt(editor.content, path);
  const [only] = choices;
  if (choices.length > 1) {
    return <Choice {...props} choices={choices} value={value} />;
  }
  return only ? (
    <Plain
      {...props}
      schema={{ ...only, default: only.default ?? schema.default }}
      value={value}
      optional={isOptional(schema, root)}
    />
  ) : null;
}

/** One of the study's own bots, which is called by its name. */
function OwnBot({ editor, root, path }: SettingProps) {
  const { urls, model } = (valueAt(editor.content, path) ?? {}) as { urls?: unknown[]; model?: unknown };
  const [open, setOpen] = useState(!urls?.some(Boolean) && !model);
  const wrong = editor.mistakes.some((mistake) => isWithin(mistake.path, path));
  return (
    <details
      class="study-group"
      data-setting={path.join(".")}
      open={open || wrong}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <code>{path[1]}</code>
      </summary>
      <div class="study-fields">
        <EndpointFields editor={editor} root={root} path={path} />
        <p class="complaint">{mistakesAt(editor.mistakes, path)}</p>
      </div>
    </details>
  );
}

function Plain(props: SettingProps & { value: unknown; optional?: boolean; opened?: boolean }) {
  const { schema, value } = props;
  if (schema.properties) {
    return <Group {...props} />;
  }
  if (freeParts(schema)) {
    return <Named {...props} />;
  }
  if (isFree(schema)) {
    return <Json {...props} />;
  }
  if (schema.type === "array") {
    return <List {...props} value={Array.isArray(value) ? value : []} />;
  }
  if (schema.type === "boolean") {
    return <Tick {...props} />;
  }
  return wordsOf(schema).length > 0 ? <Words {...props} /> : <Line {...props} />;
}

/** One of the things that a setting may be. */
interface Option {
  name: string;
  choice: Schema;
  /** The word that it is; null where something is to be filled in. */
  word: string | null;
}

/** A setting that may be one of several things: which one is chosen, then it is filled in. */
function Choice(props: SettingProps & { choices: Schema[]; value: unknown }) {
  const { editor, root, path, choices, value, schema } = props;
  const id = useId();
  const [hasChosen, setHasChosen] = useState(false);
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
          name={path.join(".")}
          class="input"
          value={String(now)}
          aria-describedby={`${id}-hint ${id}-complaint`}
          onChange={(event) => {
            const chosen = options[Number(event.currentTarget.value)];
            setHasChosen(true);
            if (chosen) {
              editor.set(path, chosen.word ?? beginning(chosen.choice, root));
            } else {
              editor.remove(path);
            }
          }}
        >
          {(now === -1 || isOptional(schema, root)) && <option value="-1">–</option>}
          {options.map(({ name }, index) => (
            <option key={name} value={String(index)}>
              {name}
            </option>
          ))}
        </select>
      </Field>
      {current && current.word === null && value !== undefined && (
        <Plain {...props} schema={current.choice} opened={hasChosen} />
      )}
    </>
  );
}

/** A section with settings of fixed names; it opens when it is wanted, or was just chosen (`opened`). */
function Group(props: SettingProps & { value: unknown; optional?: boolean; opened?: boolean }) {
  const { editor, schema, path, root, value, optional, opened = false } = props;
  const { label, hint } = nameOf(path);
  const inner = editor.mistakes.filter(
    (mistake) => isWithin(mistake.path, path) && mistake.path.length > path.length,
  );
  const [open, setOpen] = useState(opened);
  const shown = open || inner.length > 0;
  return (
    <details
      class="study-group"
      data-setting={path.join(".")}
      open={shown}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <span class="label">{label}</span>
        {hint && <span class="soft small"> {hint}</span>}
      </summary>
      {shown && (
        <div class="study-fields">
          <Settings {...props} schema={schema} root={root} path={path} />
          {optional && value !== undefined && (
            <Button kind="quiet" onClick={() => editor.remove(path)}>
              {`Remove ${label.toLowerCase()}`}
            </Button>
          )}
        </div>
      )}
      <p class="complaint">{mistakesAt(editor.mistakes, path)}</p>
    </details>
  );
}

/** The settings of a mapping, one under the other. */
export function Settings(props: SettingProps) {
  const { editor, schema, path } = props;
  return (
    <>
      {partsOf(schema, valueAt(editor.content, path)).map(([name, part]) => (
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
function List(props: SettingProps & { value: unknown[] }) {
  const { editor, schema, path, root, value } = props;
  const items = schema.items ?? {};
  const choices = alternatives(items, root);
  const item = (choices.length === 1 && choices[0]) || items;
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
    <div class="study-list" data-setting={path.join(".")}>
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
                <span class="study-item-name">
                  {summary(each, shippedWithin(editor.shipped, here)) || `${one} ${index + 1}`}
                </span>
                {wrong && <span class="complaint">Needs fixing</span>}
              </button>
              {shown && (
                <div class="study-fields">
                  {item.properties ? (
                    <Settings {...props} schema={item} path={here} />
                  ) : (
                    <Setting {...props} schema={item} path={here} />
                  )}
                  <div class="actions">
                    <Button kind="secondary" onClick={() => add(copyOf(each))}>
                      Duplicate
                    </Button>
                    <Button kind="secondary" off={index === 0} onClick={() => swap(index, index - 1)}>
                      Move up
                    </Button>
                    <Button
                      kind="secondary"
                      off={index === value.length - 1}
                      onClick={() => swap(index, index + 1)}
                    >
                      Move down
                    </Button>
                    <Button
                      kind="quiet"
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
        <Button kind="secondary" onClick={() => add(beginning(item, root))}>
          {`Add ${one.toLowerCase()}`}
        </Button>
      </div>
    </div>
  );
}

/** A mapping whose names are the researcher's own. */
function Named(props: SettingProps & { value: unknown }) {
  const { editor, schema, path, root, value } = props;
  const id = useId();
  const [name, setName] = useState("");
  const part = freeParts(schema) ?? {};
  const { label, hint } = nameOf(path);
  const entries = typeof value === "object" && value !== null ? Object.keys(value) : [];
  const add = () => {
    if (name.trim()) {
      editor.set([...path, name.trim()], beginning(part, root));
      setName("");
    }
  };
  return (
    <details class="study-group" data-setting={path.join(".")} open={entries.length > 0}>
      <summary>
        <span class="label">{label}</span> {hint && <span class="soft small">{hint}</span>}
      </summary>
      <div class="study-fields">
        <p class="complaint">{mistakesAt(editor.mistakes, path)}</p>
        {entries.map((each) => (
          <div class="study-named" key={each}>
            <Setting {...props} schema={part} path={[...path, each]} required />
            <Button kind="quiet" onClick={() => editor.remove([...path, each])}>
              {`Remove ${each}`}
            </Button>
          </div>
        ))}
        <div class="study-add">
          <label class="label" for={id}>
            Add by name
          </label>
          <input
            id={id}
            class="input"
            value={name}
            autocomplete="off"
            onInput={(event) => setName(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (isEnter(event)) {
                event.preventDefault(); // it would send the form that this may stand in
                add();
              }
            }}
          />
          <Button kind="secondary" onClick={add}>
            Add
          </Button>
        </div>
      </div>
    </details>
  );
}

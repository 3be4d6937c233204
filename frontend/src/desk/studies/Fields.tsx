import { useId, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { EndpointFields } from "../bots/EndpointFields";
import { ConsentText } from "./ConsentText";
import { List, Named } from "./collections";
import { Field, mistakesAt, type SettingProps, type SettingsEditor } from "./Field";
import { ImageFile } from "./ImageFile";
import { optionOf, titleOf } from "./items";
import { isRarelyNeeded, layoutOf } from "./layout";
import { Json, Line, Listed, Tick, Words } from "./lines";
import { nameOf, wordAt } from "./names";
import {
  alternatives,
  beginning,
  fits,
  freeParts,
  isFree,
  isOptional,
  isWithin,
  kindChanges,
  type Path,
  partsOf,
  type Schema,
  valueAt,
  withValue,
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
  if (layoutOf(props.path).image) {
    return <ImageFile {...props} />;
  }
  if (layoutOf(props.path).marked) {
    return <ConsentText {...props} />;
  }
  if (wordsOf(schema).length > 0) {
    return <Words {...props} />;
  }
  return schema["x-words"] ? <Listed {...props} /> : <Line {...props} />;
}

/** One of the things that a setting may be. */
interface Option {
  name: string;
  /** What tells it apart from the others: its word, its kind, or its type. */
  value: string;
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
      ? words.map((word) => ({ name: wordAt(path, word, root), value: word, choice, word }))
      : [{ name: titleOf(choice), value: optionOf(choice), choice, word: null }];
  });
  const written = value ?? schema.default;
  const current = options.find(({ choice, word }) =>
    word === null ? fits(written, choice) : word === written,
  );
  return (
    <>
      <Field path={path} root={root} editor={editor} id={id}>
        <select
          id={id}
          name={path.join(".")}
          class="input"
          value={current?.value ?? ""}
          aria-describedby={`${id}-hint ${id}-complaint`}
          onChange={(event) => {
            const chosen = options.find((option) => option.value === event.currentTarget.value);
            setHasChosen(true);
            if (chosen) {
              editor.set(path, chosen.word ?? beginning(chosen.choice, root));
            } else {
              editor.remove(path);
            }
          }}
        >
          {(!current || isOptional(schema, root)) && <option value="">None</option>}
          {options.map(({ name, value: each }) => (
            <option key={each} value={each}>
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

/** An editor that gives a mapping what it needs, as soon as one of its settings is given. */
function beginningWith(editor: SettingsEditor, path: Path, schema: Schema, root: Schema): SettingsEditor {
  const needed = Object.entries(beginning(schema, root) as Record<string, unknown>);
  let begun: unknown = Object.fromEntries(
    needed.map(([name, value]) => [name, layoutOf([...path, name]).start ?? value]),
  );
  return {
    ...editor,
    set: (inner, value) => {
      begun = withValue(begun, inner.slice(path.length), value);
      editor.set(path, begun);
    },
  };
}

/** A section with settings of fixed names; it opens when it is wanted, or was just chosen (`opened`). */
function Group(props: SettingProps & { value: unknown; optional?: boolean; opened?: boolean }) {
  const { schema, path, root, value, optional, opened = false } = props;
  const begun = value !== undefined && value !== null;
  const editor = begun || !optional ? props.editor : beginningWith(props.editor, path, schema, root);
  const { flat } = layoutOf(path);
  const { label, hint } = nameOf(path, root);
  const [open, setOpen] = useState(opened);
  const shown =
    open || props.editor.mistakes.some(({ path: at }) => isWithin(at, path) && at.length > path.length);
  const complaint = mistakesAt(editor.mistakes, path);
  const fields = (
    <>
      <Settings {...props} editor={editor} fold />
      {optional && begun && flat !== "bare" && (
        <div class="actions">
          <Button kind="quiet" onClick={() => props.editor.remove(path)}>
            {`Remove ${label.toLowerCase()}`}
          </Button>
        </div>
      )}
    </>
  );
  if (flat) {
    return (
      <div class="study-fields" data-setting={path.join(".")}>
        {flat === "headed" && <h3>{label}</h3>}
        {fields}
        {complaint && <p class="complaint">{complaint}</p>}
      </div>
    );
  }
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
      {shown && <div class="study-fields">{fields}</div>}
      <p class="complaint">{complaint}</p>
    </details>
  );
}

/** The settings of a mapping, one under the other. With `fold`, those that few need are folded away. */
export function Settings(props: SettingProps & { fold?: boolean }) {
  const { editor, schema, path, fold } = props;
  const parts = partsOf(schema, valueAt(editor.content, path));
  const first = parts.filter(([name]) => layoutOf([...path, name]).first);
  const others = parts.filter(([name]) => !layoutOf([...path, name]).first);
  const setAnswer = (at: Path, value: unknown) => {
    if (at.at(-1) !== "kind" || typeof value !== "string") {
      return editor.set(at, value);
    }
    for (const change of kindChanges(schema, editor.content, path, value)) {
      change.remove ? editor.remove(change.path) : editor.set(change.path, change.value);
    }
  };
  const answers = parts.some(([, part]) => part["x-kinds"]) || schema.properties?.points !== undefined;
  const within = answers ? { ...editor, set: setAnswer } : editor;
  const fields = [...first, ...others].map(([name, part]) => ({
    path: [...path, name],
    schema: part,
    required: schema.required?.includes(name) ?? false,
  }));
  return fold ? (
    <Folded {...props} editor={within} fields={fields} />
  ) : (
    fields.map((field) => <Setting {...props} editor={within} key={field.path.join(".")} {...field} />)
  );
}

type FieldProps = Pick<SettingProps, "path" | "schema" | "required">;

/** Settings of which those that few need are folded away, below "Advanced". */
export function Folded(props: Omit<SettingProps, keyof FieldProps> & { fields: FieldProps[] }) {
  const { fields, editor } = props;
  const shown = (some: FieldProps[]) =>
    some.map((field) => <Setting {...props} key={field.path.join(".")} {...field} />);
  const advanced = fields.filter(({ path }) => isRarelyNeeded(path));
  const [open, setOpen] = useState(false);
  const wrong = advanced.some(({ path }) => editor.mistakes.some((each) => isWithin(each.path, path)));
  return (
    <>
      {shown(fields.filter(({ path }) => !isRarelyNeeded(path)))}
      {advanced.length > 0 && (
        <details
          class="study-advanced"
          open={open || wrong}
          onToggle={(event) => setOpen(event.currentTarget.open)}
        >
          <summary>Advanced</summary>
          <div class="study-fields">{shown(advanced)}</div>
        </details>
      )}
    </>
  );
}

/** The fields of settings of the whole study; a mapping without a name of its own gives way to its settings. */
export function fieldsOf(names: string[], root: Schema): FieldProps[] {
  return names.flatMap((name) => {
    const schema = root.properties?.[name] ?? {};
    const [only] = alternatives(schema, root);
    const required = root.required?.includes(name) ?? false;
    return layoutOf([name]).flat === "bare" && only?.properties
      ? Object.entries(only.properties).map(([inner, part]) => ({
          path: [name, inner],
          schema: part,
          required: false,
        }))
      : [{ path: [name], schema, required }];
  });
}

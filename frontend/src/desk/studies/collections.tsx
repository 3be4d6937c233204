import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Menu } from "../../design/Menu";
import { isEnter } from "../../shared/keyboard";
import { capitalised } from "../format";
import { mistakesAt, type SettingProps } from "./Field";
import { Setting, Settings } from "./Fields";
import { beginIn } from "./focus";
import { copyOf, shippedWithin, singular, summary } from "./items";
import { Lines } from "./lines";
import { nameOf } from "./names";
import {
  alternatives,
  beginning,
  freeParts,
  isWithin,
  kindChanges,
  type Schema,
  withValue,
  wordsOf,
} from "./settings";

/** A list: of lines of text, or of things with settings, each of which opens by itself. */
export function List(props: SettingProps & { value: unknown[] }) {
  const { editor, schema, path, root, value } = props;
  const items = schema.items ?? {};
  const choices = alternatives(items, root);
  const item = (choices.length === 1 && choices[0]) || items;
  const { label, hint } = nameOf(path, root);
  const [open, setOpen] = useState<number | null>(null);
  const list = useRef<HTMLOListElement>(null);
  const [added, setAdded] = useState(0);
  // At once: whoever goes on before the next frame would lose the focus, and a menu that closes without it.
  useLayoutEffect(() => {
    if (added > 0) {
      beginIn(list.current?.lastElementChild);
    }
  }, [added]);
  const complaint = mistakesAt(editor.mistakes, path);
  if (item.type === "string") {
    return <Lines {...props} value={value} />;
  }
  const add = (item: unknown) => {
    editor.set([...path, value.length], item);
    setOpen(value.length);
    setAdded(added + 1);
  };
  const swap = (index: number, other: number) => {
    const moved = [...value];
    [moved[index], moved[other]] = [moved[other], moved[index]];
    editor.set([...path, index], moved[index]);
    editor.set([...path, other], moved[other]);
    setOpen(other);
  };
  const one = singular(label);
  const kinds = item.properties?.kind?.enum ? item.properties.kind : null;
  return (
    <div class="study-list" data-setting={path.join(".")}>
      <div>
        <h3 class="label">{label}</h3>
        {hint && <p class="soft small">{hint}</p>}
        <p class="complaint">{complaint}</p>
      </div>
      <ol ref={list}>
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
                  <p class="complaint">{mistakesAt(editor.mistakes, here)}</p>
                  {item.properties ? (
                    <Settings {...props} schema={item} path={here} fold />
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
        {kinds ? (
          <Menu
            label={
              <>
                {"Add question"}
                <span class="unseen">{one.replace(/^\w+/, "")}</span>
              </>
            }
            items={wordsOf(kinds).map((kind) => ({
              name: capitalised(kinds["x-words"]?.[kind] ?? kind),
              onChoose: () => add(questionOf(item, root, kind)),
            }))}
          />
        ) : (
          <Button kind="secondary" onClick={() => add(beginning(item, root))}>
            {`Add ${one.toLowerCase()}`}
          </Button>
        )}
      </div>
    </div>
  );
}

/** A question to begin with, answered in one of the ways that there are. */
function questionOf(item: Schema, root: Schema, kind: string): unknown {
  return kindChanges(item, beginning(item, root), [], kind).reduce<unknown>(
    (question, { path, value }) => withValue(question, path, value),
    beginning(item, root),
  );
}

/** A mapping whose names are the researcher's own. */
export function Named(props: SettingProps & { value: unknown }) {
  const { editor, schema, path, root, value } = props;
  const id = useId();
  const [name, setName] = useState("");
  const part = freeParts(schema) ?? {};
  const { label, hint } = nameOf(path, root);
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

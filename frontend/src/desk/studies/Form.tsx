import { useEffect, useState } from "preact/hooks";
import type { StudySettings } from "../api_types";
import type { Editor } from "./editor";
import { Setting } from "./Fields";
import { PARTS } from "./names";
import type { Schema } from "./settings";

/** Everything that a study can say, in parts. */
export function Form({ editor, settings }: { editor: Editor; settings: StudySettings }) {
  const root = settings.schema_of_study as Schema;
  const [open, setOpen] = useState<string>("about");
  const known = new Set(PARTS.flatMap(({ settings: names }) => names));
  const rest = Object.keys(root.properties ?? {}).filter(
    (name) => !known.has(name) && name !== "name" && name !== "version",
  );
  const parts = rest.length > 0 ? [...PARTS, { id: "more", title: "Other settings", settings: rest }] : PARTS;
  const own = Object.keys((editor.content?.bots as Record<string, unknown> | undefined) ?? {});
  const wrong = new Map(
    parts.map(({ id, settings: names }) => [
      id,
      editor.mistakes.filter(({ path }) => names.includes(String(path[0]))).length,
    ]),
  );
  useEffect(() => {
    if (window.location.hash.startsWith("#part-")) {
      setOpen(window.location.hash.slice("#part-".length));
    }
  }, []);
  if (!editor.content) {
    return (
      <p class="failure">
        {editor.busy && editor.mistakes.length === 0
          ? "Reading the study…"
          : "The form can’t show this text: mend it as YAML first (see its mistakes)."}
      </p>
    );
  }
  return (
    <div class="study-form">
      <datalist id="bots-of-studies">
        {[...own, ...settings.registered_bots, ...settings.builtin_bots].map((bot) => (
          <option key={bot} value={bot} />
        ))}
      </datalist>
      {parts.map(({ id, title, hint, settings: names }) => (
        <section class="study-part" key={id} id={`part-${id}`} aria-label={title}>
          <h2>
            <button
              type="button"
              class="study-part-head"
              aria-expanded={open === id}
              onClick={() => setOpen(open === id ? "" : id)}
            >
              <span>{title}</span>
              {(wrong.get(id) ?? 0) > 0 && <span class="complaint">{wrong.get(id)} to fix</span>}
            </button>
          </h2>
          {open === id && (
            <div class="study-fields">
              {hint && <p class="soft">{hint}</p>}
              {names
                .filter((name) => root.properties?.[name])
                .map((name) => (
                  <Setting
                    key={name}
                    editor={editor}
                    root={root}
                    schema={root.properties?.[name] ?? {}}
                    path={[name]}
                    required={root.required?.includes(name) ?? false}
                    suggestions={{ bot: "bots-of-studies" }}
                  />
                ))}
            </div>
          )}
        </section>
      ))}
    </div>
  );
}

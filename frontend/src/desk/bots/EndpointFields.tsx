import { useId, useState } from "preact/hooks";
import { Field, mistakesAt, type SettingsEditor } from "../studies/Field";
import { Settings } from "../studies/Fields";
import { isWithin, type Path, type Schema, valueAt } from "../studies/settings";
import {
  DIAL_IN,
  type Endpoint,
  endpointSchema,
  FIRST,
  movedTo,
  picked,
  serviceOf,
  servicesOf,
} from "./services";

/** The settings under Advanced, by what they are about. Those that are named nowhere stand in the last part. */
const PARTS: { title: string; settings: string[] }[] = [
  {
    title: "Prompt and sampling",
    settings: [
      "prompt",
      "temperature",
      "top_p",
      "max_tokens",
      "max_completion_tokens",
      "reasoning_effort",
      "stop",
      "seed",
      "refusals",
    ],
  },
  { title: "Messages", settings: ["instructions", "alternating", "parts"] },
  { title: "Cost", settings: ["price", "spending_cap"] },
];
const PLACED = new Set(PARTS.flatMap(({ settings }) => settings));

interface Props {
  editor: SettingsEditor;
  root: Schema;
  /** Where the endpoint stands among the settings. */
  path: Path;
  /** Whether hosts may be chosen that connect by themselves: no study can describe them. */
  dialIn?: boolean;
}

/** A bot's endpoint: the service, its address, the model and the key; everything else under Advanced. */
export function EndpointFields({ editor, root, path, dialIn = false }: Props) {
  const id = useId();
  const [open, setOpen] = useState(false);
  const endpoint = (valueAt(editor.content, path) ?? { kind: "" }) as Endpoint;
  const schema = endpointSchema(root, endpoint.kind);
  const services = [...servicesOf(root), ...(dialIn ? [DIAL_IN] : [])];
  const service = serviceOf(endpoint, services);
  const common = { editor, root, path, suggestions: {} };
  const mistaken = (setting: string) =>
    editor.mistakes.some((mistake) => isWithin(mistake.path, [...path, setting]));
  const urls = Array.isArray(endpoint.urls) ? endpoint.urls : [];
  const isUnder = Object.keys(schema.properties ?? {}).some((name) => !FIRST.has(name) && name !== "kind");
  const wrong = Object.keys(schema.properties ?? {}).some((name) => !FIRST.has(name) && mistaken(name));
  return (
    <>
      <div class="field">
        <label class="label" for={id}>
          Service
        </label>
        <select
          id={id}
          name={path.join(".")}
          class="input"
          value={service?.id ?? ""}
          aria-describedby={`${id}-about`}
          onChange={({ currentTarget: { value } }) => {
            const chosen = services.find((each) => each.id === value);
            if (chosen) {
              editor.set(path, movedTo(endpoint, chosen, endpointSchema(root, chosen.kind)));
            }
          }}
        >
          {!service && <option value="">Choose a service</option>}
          {services.map(({ id: each, name }) => (
            <option key={each} value={each}>
              {name}
            </option>
          ))}
        </select>
        {service && (
          <div class="soft small" id={`${id}-about`}>
            {service.about} {service.example && <code class="command">{service.example}</code>}
          </div>
        )}
        <p class="complaint">{mistakesAt(editor.mistakes, [...path, "kind"])}</p>
      </div>
      {schema.properties?.urls && (
        <Address
          editor={editor}
          root={root}
          path={[...path, "urls"]}
          schema={schema}
          onAddress={(urls) => {
            const next = serviceOf({ ...endpoint, urls }, services);
            // The name of a service's key goes with its address.
            if (service?.key && service.key === endpoint.key && next?.key !== service.key) {
              editor.remove([...path, "key"]);
            }
          }}
        />
      )}
      <Settings {...common} schema={picked(schema, (name) => FIRST.has(name) && name !== "urls")} />
      {(isUnder || schema.properties?.urls) && (
        <details
          class="study-group"
          key={endpoint.kind}
          open={open || wrong}
          onToggle={(event) => setOpen(event.currentTarget.open)}
          data-setting={`${path.join(".")}.advanced`}
        >
          <summary>
            <span class="label">Advanced</span>{" "}
            <span class="soft small">{inShort(schema)}. Empty fields are not sent.</span>
          </summary>
          <div class="study-fields">
            {PARTS.map(({ title, settings }) => {
              const part = picked(schema, (name) => settings.includes(name));
              return Object.keys(part.properties ?? {}).length === 0 ? null : (
                <fieldset key={title} class="endpoint-part">
                  <legend>{title}</legend>
                  <Settings {...common} schema={part} />
                </fieldset>
              );
            })}
            <fieldset class="endpoint-part">
              <legend>Requests</legend>
              {schema.properties?.urls && (
                <MoreAddresses editor={editor} path={[...path, "urls"]} urls={urls} />
              )}
              <Settings
                {...common}
                schema={picked(schema, (name) => !FIRST.has(name) && !PLACED.has(name))}
              />
            </fieldset>
          </div>
        </details>
      )}
    </>
  );
}

/** What a kind has under Advanced, in a few words. */
function inShort(schema: Schema): string {
  return schema.properties?.prompt ? "Prompt, sampling, price, headers" : "More addresses";
}

/** The first address, on a line. */
function Address({
  editor,
  root,
  path,
  schema,
  onAddress,
}: {
  editor: SettingsEditor;
  root: Schema;
  path: Path;
  schema: Schema;
  onAddress: (urls: string[]) => void;
}) {
  const id = useId();
  const urls = valueAt(editor.content, path);
  const [first = "", ...more] = Array.isArray(urls) ? urls.map(String) : [];
  const [usual] = (schema.properties?.urls?.default ?? []) as string[];
  return (
    <Field path={path} root={root} editor={editor} id={id}>
      <input
        id={id}
        class="input"
        name={path.join(".")}
        value={first}
        placeholder={usual}
        inputMode="url"
        autocomplete="off"
        spellcheck={false}
        aria-describedby={`${id}-hint ${id}-complaint`}
        aria-invalid={mistakesAt(editor.mistakes, path) ? ("true" as const) : undefined}
        onInput={({ currentTarget: { value } }) => {
          const next = [...(value.trim() ? [value.trim()] : []), ...more];
          if (next.length > 0) {
            editor.set(path, next);
          } else {
            editor.remove(path);
          }
          onAddress(next);
        }}
      />
    </Field>
  );
}

/** Further addresses of the same model, one on each line. */
function MoreAddresses({ editor, path, urls }: { editor: SettingsEditor; path: Path; urls: unknown[] }) {
  const id = useId();
  const [first, ...more] = urls.map(String);
  return (
    <div class="field">
      <label class="label" for={id}>
        More addresses
      </label>
      <textarea
        id={id}
        class="input"
        rows={2}
        value={more.join("\n")}
        aria-describedby={`${id}-hint`}
        onInput={({ currentTarget: { value } }) =>
          editor.set(path, [...(first ? [first] : []), ...(value ? value.split("\n") : [])])
        }
      />
      <p class="soft small" id={`${id}-hint`}>
        Of servers with the same model, one a line: they share the load.
      </p>
    </div>
  );
}

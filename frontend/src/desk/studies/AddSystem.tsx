import { useId, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { TextField } from "../../design/TextField";
import type { StudySettings } from "../api_types";
import type { Editor } from "./editor";
import { optionOf, titleOf } from "./items";
import { alternatives, freeParts, resolved, type Schema } from "./settings";

/** The kind of endpoint to begin with: most models are served so. */
const FIRST_KIND = "openai";
const ENDPOINT = "endpoint:";

/** Adds a system to the study together with its bot: one at an address, a builtin one, or a registered one. */
export function AddSystem({ editor, settings }: { editor: Editor; settings: StudySettings }) {
  const root = settings.schema_of_study as Schema;
  const id = useId();
  const [name, setName] = useState("");
  const [where, setWhere] = useState(`${ENDPOINT}${FIRST_KIND}`);
  const [address, setAddress] = useState("");
  const [model, setModel] = useState("");
  const [asked, setAsked] = useState(false);
  const kinds = endpointsOf(root);
  const kind = where.startsWith(ENDPOINT) ? where.slice(ENDPOINT.length) : null;
  const schema = kinds.find((each) => optionOf(each) === kind);
  const needs = (setting: string) => schema?.required?.includes(setting) ?? false;
  const systems = Array.isArray(editor.content?.systems) ? editor.content.systems : [];
  const taken = systems.some((system) => (system as { name?: unknown } | null)?.name === name.trim());
  const wrongName = !/^[a-z][a-z0-9_]*$/.test(name.trim())
    ? "Enter a name: lowercase letters, digits or _, starting with a letter."
    : taken
      ? "Another system has this name. Choose a different one."
      : "";
  const wrongAddress = needs("urls") && address.trim() === "" ? "Enter the address of the bot." : "";
  const wrongModel = needs("model") && model.trim() === "" ? "Enter the name of the model." : "";
  const add = (event: Event) => {
    event.preventDefault();
    if (wrongName || wrongAddress || wrongModel) {
      setAsked(true);
      return;
    }
    const label = name.trim();
    if (kind !== null) {
      const urls = address.trim() ? { urls: [address.trim()] } : {};
      const served = model.trim() && schema?.properties?.model ? { model: model.trim() } : {};
      editor.set(["bots", label], { kind, ...urls, ...served });
    }
    editor.set(["systems", systems.length], {
      name: label,
      family: label,
      bot: kind === null ? where : label,
    });
    setName("");
    setAddress("");
    setAsked(false);
  };
  return (
    <form class="study-group study-fields" noValidate aria-labelledby={`${id}-title`} onSubmit={add}>
      <h3 class="label" id={`${id}-title`}>
        Add a bot
      </h3>
      <TextField
        label="Name of the bot"
        hint="Its name in the data. Workers never see it."
        value={name}
        onValue={setName}
        complaint={asked ? wrongName : ""}
      />
      <div class="field">
        <label class="label" for={`${id}-where`}>
          Where it answers
        </label>
        <select
          id={`${id}-where`}
          class="input"
          value={where}
          onChange={({ currentTarget }) => setWhere(currentTarget.value)}
        >
          <optgroup label="At an address">
            {kinds.map((each) => (
              <option key={optionOf(each)} value={`${ENDPOINT}${optionOf(each)}`}>
                {titleOf(each)}
              </option>
            ))}
          </optgroup>
          {settings.registered_bots.length > 0 && (
            <optgroup label="Registered with this server">
              {settings.registered_bots.map((bot) => (
                <option key={bot} value={bot}>
                  {bot}
                </option>
              ))}
            </optgroup>
          )}
          <optgroup label="Built in, in English">
            {settings.builtin_bots.map((bot) => (
              <option key={bot} value={bot}>
                {bot}
              </option>
            ))}
          </optgroup>
        </select>
      </div>
      {schema?.properties?.urls && (
        <TextField
          label="Address of the bot"
          hint={needs("urls") ? "Where this server reaches it." : "Empty: the service’s own."}
          value={address}
          onValue={setAddress}
          complaint={asked ? wrongAddress : ""}
        />
      )}
      {schema?.properties?.model && (
        <TextField
          label="Model of the bot"
          hint="By the name that its service has for it."
          value={model}
          onValue={setModel}
          complaint={asked ? wrongModel : ""}
        />
      )}
      <div class="actions">
        <Button kind="secondary" type="submit">
          Add the bot
        </Button>
      </div>
    </form>
  );
}

/** The schema of each kind of endpoint that a bot of a study may have. */
function endpointsOf(root: Schema): Schema[] {
  const bots = resolved(root.properties?.bots ?? {}, root);
  return alternatives(freeParts(bots) ?? {}, root);
}

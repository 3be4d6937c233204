import { useContext, useId, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { TextField } from "../../design/TextField";
import { send } from "../api";
import { ResearcherContext } from "../researcher";
import {
  type BotDraft,
  DRAFT,
  endpointSchema,
  FIRST,
  type KindHelp,
  kindsOf,
  picked,
  useBotDraft,
} from "./bot_draft";
import { mistakesAt } from "./Field";
import { Settings } from "./Fields";
import type { Schema } from "./settings";

/** Hosts that connect by themselves, which a study cannot describe: its schema has the other kinds. */
const DIAL_IN: KindHelp = {
  name: "dial-in: a host that calls this server",
  about: "For a machine behind a firewall: it needs no open port, only a token for hosts. Started there as",
  example:
    "candor host hf:models/my-bot \\\n  --name mine \\\n  --server wss://candor.example.org \\\n  --token TOKEN",
};

/** Where a bot is to be had, so that studies can name it. `root`: the schema of studies, which has its settings. */
export function RegisterBot({ root, onClose }: { root: Schema; onClose: () => void }) {
  const { token } = useContext(ResearcherContext);
  const [name, setName] = useState("");
  const [failure, setFailure] = useState("");
  const draft = useBotDraft("http");
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      if (await draft.check()) {
        await send("POST", "/api/desk/bots", { name: name.trim(), endpoint: draft.endpoint }, token);
        onClose();
      }
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  };
  const own = mistakesAt(draft.mistakes, DRAFT);
  return (
    <Dialog title="Register a bot" onClose={onClose}>
      <form class="study-fields" noValidate onSubmit={(event) => void submit(event)}>
        <TextField
          label="Name"
          hint="By which studies name it: small letters, digits, - and _."
          value={name}
          onValue={setName}
          required
        />
        <KindChoice draft={draft} root={root} />
        <EndpointSettings draft={draft} root={root} />
        <p class="complaint" role="alert">
          {own || (draft.mistakes.length > 0 ? "Fix the problems above first." : failure)}
        </p>
        <div class="actions">
          <Button kind="secondary" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit">Register</Button>
        </div>
      </form>
    </Dialog>
  );
}

function KindChoice({ draft, root }: { draft: BotDraft; root: Schema }) {
  const id = useId();
  const kinds: Record<string, KindHelp> = { ...kindsOf(root), "dial-in": DIAL_IN };
  const { about, example } = kinds[draft.endpoint.kind] ?? DIAL_IN;
  return (
    <div class="field">
      <label class="label" for={id}>
        Kind
      </label>
      <select
        id={id}
        class="input"
        value={draft.endpoint.kind}
        aria-describedby={`${id}-about`}
        onChange={({ currentTarget: { value } }) => draft.begin(value, endpointSchema(root, value))}
      >
        {Object.entries(kinds).map(([each, { name }]) => (
          <option key={each} value={each}>
            {name}
          </option>
        ))}
      </select>
      <p class="soft small" id={`${id}-about`}>
        {about} <code class="command">{example}</code>
      </p>
    </div>
  );
}

/** What a bot of this kind may be given: first what most need, the rest folded away. */
function EndpointSettings({ draft, root }: { draft: BotDraft; root: Schema }) {
  const schema = endpointSchema(root, draft.endpoint.kind);
  const common = { editor: draft, root, path: DRAFT, suggestions: {} };
  const more = picked(schema, (setting) => !FIRST.has(setting));
  const wrong = draft.mistakes.some(({ path }) => !FIRST.has(String(path[DRAFT.length])));
  return (
    <>
      <Settings {...common} schema={picked(schema, (setting) => FIRST.has(setting))} />
      {Object.keys(more.properties ?? {}).length > 0 && (
        <details class="study-group" key={draft.endpoint.kind} open={wrong || undefined}>
          <summary>
            <span class="label">More settings</span>{" "}
            <span class="soft small">What is left empty is not sent.</span>
          </summary>
          <div class="study-fields">
            <Settings {...common} schema={more} />
          </div>
        </details>
      )}
    </>
  );
}

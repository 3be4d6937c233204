import { useContext, useId, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { send } from "../api";
import type { BotView } from "../api_types";
import { ResearcherContext } from "../researcher";
import { TextField } from "../TextField";
import { type BotDraft, DRAFT, endpointSchema, FIRST, picked, useBotDraft } from "./bot_draft";
import { mistakesAt } from "./Field";
import { Settings } from "./Fields";
import type { Schema } from "./settings";

type Kind = BotView["endpoint"]["kind"];

/** Each kind of bot: what it is, by an example of how one is started or of what it is called. */
const KINDS: Record<Kind, { name: string; about: string; example: string }> = {
  http: {
    name: "http: a bot host, or 20 lines of Python",
    about:
      "A program of your own that answers Candor’s small JSON contract. A bot host does it for local models, here at http://127.0.0.1:8601/mine:",
    example: "candor host hf:models/my-bot \\\n  --name mine",
  },
  openai: {
    name: "openai: anything OpenAI-compatible",
    about:
      "OpenAI, Azure, vLLM, Ollama, llama.cpp, TGI … An address ends where /chat/completions begins, here http://127.0.0.1:8100/v1:",
    example: "vllm serve my/model \\\n  --port 8100",
  },
  anthropic: {
    name: "anthropic: Anthropic’s Messages API",
    about: "Claude, at Anthropic’s own address unless another one is given. A model’s name is like",
    example: "claude-sonnet-4-5",
  },
  gemini: {
    name: "gemini: Google’s Gemini API",
    about: "Gemini, at Google’s own address unless another one is given. A model’s name is like",
    example: "gemini-2.5-flash",
  },
  bedrock: {
    name: "bedrock: Amazon Bedrock’s Converse",
    about: "Whatever Bedrock has, with a key of Bedrock’s. The address names the region:",
    example: "https://bedrock-runtime.\neu-central-1.amazonaws.com",
  },
  "parlai-web": {
    name: "parlai-web: ParlAI’s interactive_web",
    about:
      "It has one conversation at a time, so give it to nobody else meanwhile; here at http://127.0.0.1:8080:",
    example: "parlai interactive_web \\\n  -mf my/model --port 8080",
  },
  "dial-in": {
    name: "dial-in: a host that calls this server",
    about: "For a machine behind a firewall: it needs no open port, only a token for hosts. Started there as",
    example:
      "candor host hf:models/my-bot \\\n  --name mine \\\n  --server wss://candor.example.org \\\n  --token TOKEN",
  },
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
          {own || (draft.mistakes.length > 0 ? "Something is to be mended above." : failure)}
        </p>
        <div class="actions">
          <Button kind="quiet" onClick={onClose}>
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
  const { about, example } = KINDS[draft.endpoint.kind as Kind];
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
        {Object.entries(KINDS).map(([each, { name }]) => (
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

import { useContext, useId, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { send } from "../api";
import { ResearcherContext } from "../researcher";
import { TextField } from "../TextField";

type Kind = "http" | "openai" | "parlai-web" | "dial-in";

/** Each kind of bot: what it is, by an example of how one is started, and an address as an example. */
const KINDS: Record<Kind, { name: string; about: string; example: string; address: string }> = {
  http: {
    name: "http: a bot host, or 20 lines of Python",
    about:
      "A program of your own that answers Candor’s small JSON contract. A bot host does it for local models:",
    example: "candor host hf:models/my-bot \\\n  --name mine",
    address: "http://127.0.0.1:8601/mine",
  },
  openai: {
    name: "openai: anything OpenAI-compatible",
    about:
      "vLLM, Ollama, llama.cpp, TGI or a hosted service. The address ends where /chat/completions begins:",
    example: "vllm serve my/model \\\n  --port 8100",
    address: "http://127.0.0.1:8100/v1",
  },
  "parlai-web": {
    name: "parlai-web: ParlAI’s interactive_web",
    about: "It has one conversation at a time, so give it to nobody else meanwhile:",
    example: "parlai interactive_web \\\n  -mf my/model --port 8080",
    address: "http://127.0.0.1:8080",
  },
  "dial-in": {
    name: "dial-in: a host that calls this server",
    about: "For a machine behind a firewall: it needs no open port, only a token for hosts. Started there as",
    example:
      "candor host hf:models/my-bot \\\n  --name mine \\\n  --server wss://candor.example.org \\\n  --token TOKEN",
    address: "",
  },
};

/** Where a bot is to be had, so that studies can name it. */
export function RegisterBot({ onClose }: { onClose: () => void }) {
  const { token } = useContext(ResearcherContext);
  const id = useId();
  const [name, setName] = useState("");
  const [kind, setKind] = useState<Kind>("http");
  const [url, setUrl] = useState("");
  const [model, setModel] = useState("");
  const [key, setKey] = useState("");
  const [failure, setFailure] = useState("");
  const { about, example, address } = KINDS[kind];
  const withKey = kind === "http" || kind === "openai";
  const submit = async (event: Event) => {
    event.preventDefault();
    const endpoint = {
      kind,
      ...(kind === "dial-in" ? {} : { urls: [url.trim()] }),
      ...(kind === "openai" ? { model: model.trim() } : {}),
      ...(withKey && key.trim() ? { key: key.trim() } : {}),
    };
    try {
      await send("POST", "/api/desk/bots", { name: name.trim(), endpoint }, token);
      onClose();
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Dialog title="Register a bot" onClose={onClose}>
      <form class="study-fields" onSubmit={(event) => void submit(event)}>
        <TextField
          label="Name"
          hint="By which studies name it: small letters, digits, - and _."
          value={name}
          onValue={setName}
          required
        />
        <div class="field">
          <label class="label" for={id}>
            Kind
          </label>
          <select
            id={id}
            class="input"
            value={kind}
            aria-describedby={`${id}-about`}
            onChange={(event) => setKind(event.currentTarget.value as Kind)}
          >
            {Object.entries(KINDS).map(([each, { name: label }]) => (
              <option key={each} value={each}>
                {label}
              </option>
            ))}
          </select>
          <p class="soft small" id={`${id}-about`}>
            {about} <code class="command">{example}</code>
          </p>
        </div>
        {kind !== "dial-in" && (
          <TextField label="Address" value={url} onValue={setUrl} placeholder={address} required />
        )}
        {kind === "openai" && <TextField label="Model" value={model} onValue={setModel} required />}
        {withKey && (
          <TextField
            label="Key"
            hint="Not the key itself: the name of the server’s environment variable that holds it, one that CANDOR_BOT_KEYS allows for this address. Empty where none is needed."
            value={key}
            onValue={setKey}
            placeholder={kind === "openai" ? "OPENAI_API_KEY" : "MY_BOT_KEY"}
          />
        )}
        <p class="complaint" role="alert">
          {failure}
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

import { useContext, useEffect, useId, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { getJson, send, Unauthorised } from "../api";
import type { BotView, CheckView } from "../api_types";
import { ago } from "../format";
import { ResearcherContext } from "../polled";
import type { Editor } from "./editor";

const EVERY_MS = 1_000;
const VERDICTS: Record<string, string> = {
  pass: "fit for workers",
  warn: "fit, with remarks",
  fail: "not fit",
};

/** The bots that this study names: where each is, and whether it is fit for workers. */
export function Bots({ editor, builtin }: { editor: Editor; builtin: string[] }) {
  const [adding, setAdding] = useState(false);
  const [added, setAdded] = useState<string[]>([]);
  const own = Object.keys((editor.content?.bots as Record<string, unknown> | undefined) ?? {});
  const systems = Array.isArray(editor.content?.systems) ? editor.content.systems : [];
  const named = systems.map((system) => (system as { bot?: unknown } | null)?.bot);
  const bots = [...new Set([...named, ...added])].filter((bot): bot is string => typeof bot === "string");
  return (
    <div class="study-bots">
      <ul>
        {bots.map((bot) => (
          <li key={bot} class="study-bot">
            <code>{bot}</code>
            {builtin.includes(bot) ? (
              <span class="soft small">builtin, needs no check</span>
            ) : own.includes(bot) ? (
              <span class="soft small">this study’s own: asked a few conversations when a run is opened</span>
            ) : (
              <Registered name={bot} />
            )}
          </li>
        ))}
      </ul>
      {bots.length === 0 && <p class="soft">The study names no bots yet.</p>}
      <div class="actions">
        <Button kind="quiet" onClick={() => setAdding(true)}>
          Register a bot
        </Button>
      </div>
      {adding && (
        <Register
          onClose={() => setAdding(false)}
          onDone={(name) => {
            setAdding(false);
            setAdded([...added, name]);
          }}
        />
      )}
    </div>
  );
}

/** A bot that is registered with the server, and its check. */
function Registered({ name }: { name: string }) {
  const { token, onUnauthorised } = useContext(ResearcherContext);
  const [bot, setBot] = useState<BotView | null>(null);
  const [check, setCheck] = useState<CheckView | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const running = check?.state === "running";

  const look = async (signal: AbortSignal) => {
    try {
      const found = await getJson("/api/desk/bots/{name}", { name }, token, signal);
      setBot(found);
      setFailure(null);
      if (running || found.check) {
        setCheck(await getJson("/api/desk/bots/{name}/check", { name }, token, signal));
      }
    } catch (error) {
      if (error instanceof Unauthorised) {
        onUnauthorised();
      } else if (!signal.aborted) {
        setFailure(error instanceof Error ? error.message : String(error));
      }
    }
  };

  useEffect(() => {
    const control = new AbortController();
    void look(control.signal);
    const timer = running ? setInterval(() => void look(control.signal), EVERY_MS) : undefined;
    return () => {
      control.abort();
      clearInterval(timer);
    };
  }, [name, token, running]);

  const start = async () => {
    try {
      setCheck(
        (await send("POST", `/api/desk/bots/${encodeURIComponent(name)}/check`, {}, token)) as CheckView,
      );
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  };

  if (!bot) {
    return <span class="complaint">{failure ?? "…"}</span>;
  }
  const verdict = check?.report?.verdict;
  return (
    <>
      <span class="small" role="status">
        {running
          ? `being checked: ${check.done} of ${check.total} calls`
          : check?.state === "failed"
            ? `could not be checked: ${check.error}`
            : verdict
              ? `${VERDICTS[verdict] ?? verdict}, checked ${ago(check.at)}`
              : "never checked"}
      </span>
      <Button kind="quiet" off={running} onClick={() => void start()}>
        {verdict ? `Check ${name} again` : `Check ${name}`}
      </Button>
      {failure && <span class="complaint">{failure}</span>}
      {check?.report && verdict !== "pass" && (
        <ul class="study-findings small">
          {check.report.findings
            .filter((finding) => finding.verdict !== "pass")
            .map((finding) => (
              <li key={finding.question}>
                {finding.question} {finding.reason}
              </li>
            ))}
        </ul>
      )}
    </>
  );
}

function Register({ onClose, onDone }: { onClose: () => void; onDone: (name: string) => void }) {
  const { token } = useContext(ResearcherContext);
  const id = useId();
  const [name, setName] = useState("");
  const [kind, setKind] = useState("http");
  const [url, setUrl] = useState("");
  const [model, setModel] = useState("");
  const [failure, setFailure] = useState("");
  const submit = async (event: Event) => {
    event.preventDefault();
    const where = kind === "dial-in" ? {} : { urls: [url.trim()] };
    const endpoint = { kind, ...where, ...(kind === "openai" ? { model: model.trim() } : {}) };
    try {
      await send("POST", "/api/desk/bots", { name: name.trim(), endpoint }, token);
      onDone(name.trim());
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Dialog title="Register a bot" onClose={onClose}>
      <form class="study-fields" onSubmit={(event) => void submit(event)}>
        <div class="field">
          <label class="label" for={`${id}-name`}>
            Name
          </label>
          <input
            id={`${id}-name`}
            class="input"
            value={name}
            autocomplete="off"
            required
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </div>
        <div class="field">
          <label class="label" for={`${id}-kind`}>
            Kind
          </label>
          <select
            id={`${id}-kind`}
            class="input"
            value={kind}
            onChange={(event) => setKind(event.currentTarget.value)}
          >
            <option value="http">http: a bot host, or 20 lines of Python</option>
            <option value="openai">openai: anything OpenAI-compatible</option>
            <option value="parlai-web">parlai-web: ParlAI’s interactive_web</option>
            <option value="dial-in">dial-in: a host that calls this server</option>
          </select>
        </div>
        {kind !== "dial-in" && (
          <div class="field">
            <label class="label" for={`${id}-url`}>
              Address
            </label>
            <input
              id={`${id}-url`}
              class="input"
              value={url}
              placeholder="http://127.0.0.1:8601/mine"
              autocomplete="off"
              onInput={(event) => setUrl(event.currentTarget.value)}
            />
          </div>
        )}
        {kind === "openai" && (
          <div class="field">
            <label class="label" for={`${id}-model`}>
              Model
            </label>
            <input
              id={`${id}-model`}
              class="input"
              value={model}
              autocomplete="off"
              onInput={(event) => setModel(event.currentTarget.value)}
            />
          </div>
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

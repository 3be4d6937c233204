import { useContext, useEffect, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { getJson, send, Unauthorised } from "../api";
import type { BotView, CheckView } from "../api_types";
import { ago } from "../format";
import { ResearcherContext } from "../polled";
import type { Editor } from "./editor";
import { RegisterBot } from "./RegisterBot";

const EVERY_MS = 1_000;
const VERDICTS: Record<string, string> = {
  pass: "fit for workers",
  warn: "fit, with remarks",
  fail: "not fit",
};

/** The bots that this study names and those that it could: where each is, and whether it is fit for workers. */
export function Bots({
  editor,
  builtin,
  registered,
}: {
  editor: Editor;
  builtin: string[];
  registered: string[];
}) {
  const [adding, setAdding] = useState(false);
  const [added, setAdded] = useState<string[]>([]);
  const [removing, setRemoving] = useState<string | null>(null);
  const [removed, setRemoved] = useState<string[]>([]);
  const own = Object.keys((editor.content?.bots as Record<string, unknown> | undefined) ?? {});
  const systems = Array.isArray(editor.content?.systems) ? editor.content.systems : [];
  const named = systems.map((system) => (system as { bot?: unknown } | null)?.bot);
  const bots = [...new Set(named)].filter((bot): bot is string => typeof bot === "string");
  const others = [...new Set([...added, ...registered])].filter(
    (bot) => !bots.includes(bot) && !removed.includes(bot),
  );
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
      {others.length > 0 && <h3>Registered, not in this study</h3>}
      <ul>
        {others.map((bot) => (
          <li key={bot} class="study-bot">
            <code>{bot}</code>
            <Registered name={bot} />
            <Button
              kind="plain"
              onClick={() => editor.set(["systems"], [...systems, { name: bot, family: bot, bot }])}
            >
              {`Evaluate ${bot}`}
            </Button>
            <Button kind="plain" onClick={() => setRemoving(bot)}>
              {`Remove ${bot}`}
            </Button>
          </li>
        ))}
      </ul>
      <div class="actions">
        <Button kind="quiet" onClick={() => setAdding(true)}>
          Register a bot
        </Button>
      </div>
      {removing && (
        <Remove
          name={removing}
          onClose={() => setRemoving(null)}
          onDone={() => {
            setRemoving(null);
            setRemoved([...removed, removing]);
          }}
        />
      )}
      {adding && (
        <RegisterBot
          onClose={() => setAdding(false)}
          onDone={(name) => {
            setAdding(false);
            setAdded([...added, name]);
            setRemoved(removed.filter((each) => each !== name));
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

/** Asks before the server forgets a bot; one that an open run has is kept, and the server says so. */
function Remove({ name, onClose, onDone }: { name: string; onClose: () => void; onDone: () => void }) {
  const { token } = useContext(ResearcherContext);
  const [failure, setFailure] = useState("");
  const remove = async () => {
    try {
      await send("DELETE", `/api/desk/bots/${encodeURIComponent(name)}`, undefined, token);
      onDone();
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Dialog title={`Remove ${name}?`} onClose={onClose}>
      <p>
        The server forgets its address. Studies that name it can’t be opened until it is registered again.
      </p>
      <p class="complaint" role="alert">
        {failure}
      </p>
      <div class="actions">
        <Button kind="quiet" onClick={onClose}>
          Keep it
        </Button>
        <Button onClick={() => void remove()}>Remove it</Button>
      </div>
    </Dialog>
  );
}

import { useContext, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { apiAddress, send } from "../api";
import type { CheckedBot, CheckedBots } from "../api_types";
import { ago } from "../format";
import { LoadStatus } from "../LoadStatus";
import { newestOf, usePushed } from "../pushed";
import { ResearcherContext } from "../researcher";
import type { Editor } from "./editor";
import { RegisterBot } from "./RegisterBot";

const VERDICTS: Record<string, string> = {
  pass: "fit for workers",
  warn: "fit, with remarks",
  fail: "not fit",
};

/** The bots that this study names: where each is, and whether it is fit for workers. */
export function Bots({ editor, builtin }: { editor: Editor; builtin: string[] }) {
  const [adding, setAdding] = useState(false);
  const [added, setAdded] = useState<string[]>([]);
  const { data, failure } = usePushed("/api/desk/watch/bots", {}, newestOf<CheckedBots>);
  const own = Object.keys((editor.content?.bots as Record<string, unknown> | undefined) ?? {});
  const systems = Array.isArray(editor.content?.systems) ? editor.content.systems : [];
  const named = systems.map((system) => (system as { bot?: unknown } | null)?.bot);
  const bots = [...new Set([...named, ...added])].filter((bot): bot is string => typeof bot === "string");
  return (
    <div class="study-bots">
      {failure && <LoadStatus failure={failure} empty={false} />}
      <ul>
        {bots.map((bot) => (
          <li key={bot} class="study-bot">
            <code>{bot}</code>
            {builtin.includes(bot) ? (
              <span class="soft small">builtin, needs no check</span>
            ) : own.includes(bot) ? (
              <span class="soft small">this study’s own: asked a few conversations when a run is opened</span>
            ) : (
              <Registered name={bot} known={data?.bots ?? null} />
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
        <RegisterBot
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

/** A bot that is registered with the server, and its check; `known` null: the server has not said yet. */
function Registered({ name, known }: { name: string; known: CheckedBot[] | null }) {
  const { token } = useContext(ResearcherContext);
  const [failure, setFailure] = useState<string | null>(null);
  const bot = known?.find((each) => each.name === name);
  const start = async () => {
    setFailure(null);
    try {
      await send("POST", apiAddress("/api/desk/bots/{name}/check", { name }), {}, token);
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  };
  if (!bot) {
    return <span class={known ? "complaint" : "soft"}>{known ? "not registered here" : "…"}</span>;
  }
  const { check } = bot;
  const running = check?.state === "running";
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

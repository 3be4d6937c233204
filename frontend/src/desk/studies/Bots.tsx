import { useContext, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { AccountContext, may } from "../account";
import { apiAddress, send } from "../api";
import type { CheckedBot, CheckedBots, StudySettings } from "../api_types";
import { ago } from "../format";
import { LoadStatus } from "../LoadStatus";
import { newestOf, usePushed } from "../pushed";
import { ResearcherContext } from "../researcher";
import type { Editor } from "./editor";
import { Findings } from "./Findings";
import { QcExamination } from "./QcExamination";
import { RegisterBot } from "./RegisterBot";
import type { Schema } from "./settings";

const VERDICTS: Record<string, string> = {
  pass: "fit for workers",
  warn: "fit, with remarks",
  fail: "not fit",
};

interface Props {
  editor: Editor;
  settings: StudySettings;
}

/** The bots that this study names and those that it could: where each is, and whether it is fit for workers. */
export function Bots(props: Props) {
  return may(useContext(AccountContext), "see_bots") ? (
    <Watched {...props} />
  ) : (
    <List {...props} known={null} />
  );
}

function Watched(props: Props) {
  const { data, failure } = usePushed("/api/desk/watch/bots", {}, newestOf<CheckedBots>);
  return (
    <>
      {failure && <LoadStatus failure={failure} empty={false} />}
      <List {...props} known={data?.bots ?? null} />
    </>
  );
}

/** `known`: the bots that are registered; null as long as that is not known here. */
function List({ editor, settings, known }: Props & { known: CheckedBot[] | null }) {
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<string | null>(null);
  const own = Object.keys((editor.content?.bots as Record<string, unknown> | undefined) ?? {});
  const study = editor.mistakes.length === 0 ? editor.text : null;
  const systems = Array.isArray(editor.content?.systems) ? editor.content.systems : [];
  const named = systems.map((system) => (system as { bot?: unknown } | null)?.bot);
  const bots = [...new Set(named)].filter((bot): bot is string => typeof bot === "string");
  const others = (known ?? []).map(({ name }) => name).filter((bot) => !bots.includes(bot));
  return (
    <div class="study-bots">
      <ul>
        {bots.map((bot) => (
          <li key={bot} class="study-bot">
            <code>{bot}</code>
            {settings.builtin_bots.includes(bot) ? (
              <span class="soft small">builtin, needs no check</span>
            ) : own.includes(bot) ? (
              <span class="soft small">this study’s own: asked a few conversations when a run is opened</span>
            ) : (
              <Registered name={bot} known={known} study={study} />
            )}
          </li>
        ))}
      </ul>
      {bots.length === 0 && <p class="soft">The study names no bots yet.</p>}
      <QcExamination editor={editor} />
      {others.length > 0 && <h2 class="label">Registered, not in this study</h2>}
      <ul>
        {others.map((bot) => (
          <li key={bot} class="study-bot">
            <code>{bot}</code>
            <Registered name={bot} known={known} study={study} />
            <Button
              kind="quiet"
              onClick={() => editor.set(["systems"], [...systems, { name: bot, family: bot, bot }])}
            >
              {`Evaluate ${bot}`}
            </Button>
            <Button kind="quiet" onClick={() => setRemoving(bot)}>
              {`Remove ${bot}`}
            </Button>
          </li>
        ))}
      </ul>
      <div class="actions">
        <Button kind="secondary" onClick={() => setAdding(true)}>
          Register a bot
        </Button>
      </div>
      {removing && <Remove name={removing} onClose={() => setRemoving(null)} />}
      {adding && <RegisterBot root={settings.schema_of_study as Schema} onClose={() => setAdding(false)} />}
    </div>
  );
}

interface RegisteredProps {
  name: string;
  /** Every registered bot; null: the server has not said yet. */
  known: CheckedBot[] | null;
  /** What the bot is to be fit for; null as long as it has mistakes. */
  study: string | null;
}

/** A bot that is registered with the server, and its check. */
function Registered({ name, known, study }: RegisteredProps) {
  const { token } = useContext(ResearcherContext);
  const [failure, setFailure] = useState<string | null>(null);
  const bot = known?.find((each) => each.name === name);
  const start = async () => {
    setFailure(null);
    try {
      await send("POST", apiAddress("/api/desk/bots/{name}/check", { name }), { study }, token, "Check");
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
      <Button kind="secondary" off={running} onClick={() => void start()}>
        {verdict ? `Check ${name} again` : `Check ${name}`}
      </Button>
      {failure && <span class="complaint">{failure}</span>}
      {check?.report && <Findings findings={check.report.findings} />}
    </>
  );
}

/** Asks before the server forgets a bot; one that an open run has is kept, and the server says so. */
function Remove({ name, onClose }: { name: string; onClose: () => void }) {
  const { token } = useContext(ResearcherContext);
  const [failure, setFailure] = useState("");
  const remove = async () => {
    try {
      await send("DELETE", `/api/desk/bots/${encodeURIComponent(name)}`, undefined, token);
      onClose();
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
        <Button kind="secondary" onClick={onClose}>
          Keep it
        </Button>
        <Button onClick={() => void remove()}>Remove it</Button>
      </div>
    </Dialog>
  );
}

import { Plus } from "lucide";
import type { ComponentChildren } from "preact";
import { useContext, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { Icon } from "../../design/Icon";
import { AccountContext, may } from "../account";
import { apiAddress, send } from "../api";
import type { CheckedBot, CheckedBots, StudySettings } from "../api_types";
import { LoadStatus } from "../LoadStatus";
import { newestOf, usePushed } from "../pushed";
import { ResearcherContext } from "../researcher";
import type { Editor } from "../studies/editor";
import type { Schema } from "../studies/settings";
import { AddBot, evaluate, systemsOf } from "./AddBot";
import "./bots.css";
import { BotRow } from "./BotRow";
import { CheckLines, CheckResult } from "./CheckResult";
import { useOwnCheck } from "./own_checks";
import { QcExamination } from "./QcExamination";
import { TryBot } from "./TryBot";

interface Props {
  editor: Editor;
  settings: StudySettings;
}

/** The bots that this study names and those that it could: each can be tried, and most can be checked. */
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
  const [trying, setTrying] = useState<string | null>(null);
  const content = editor.content ?? {};
  const own = (content.bots ?? {}) as Record<string, unknown>;
  const systems = systemsOf(editor);
  const named = systems.map((system) => system?.bot).filter((bot): bot is string => typeof bot === "string");
  const bots = [...new Set([...named, ...Object.keys(own)])];
  const others = (known ?? []).map(({ name }) => name).filter((bot) => !bots.includes(bot));
  const answersAs = (bot: string) => {
    const names = systems.filter((system) => system?.bot === bot).map((system) => system?.name ?? "?");
    return names.length === 0 ? "in no system yet" : `answers as ${names.join(", ")}`;
  };
  const common = (bot: string) => ({ bot, onTry: () => setTrying(bot) });
  const evaluation = (bot: string) => (
    <Button kind="quiet" onClick={() => evaluate(editor, bot)}>
      Evaluate
      <span class="unseen"> {bot}</span>
    </Button>
  );
  return (
    <div class="bots">
      <ul class="bot-list">
        {bots.map((bot) => {
          const used = named.includes(bot);
          if (settings.builtin_bots.includes(bot)) {
            return <BotRow key={bot} {...common(bot)} about={`comes with Candor, ${answersAs(bot)}`} />;
          }
          if (bot.startsWith("human:")) {
            return <BotRow key={bot} bot={bot} about={`people, ${answersAs(bot)}`} />;
          }
          if (bot in own) {
            const about = `only in this study, ${answersAs(bot)}`;
            return (
              <OwnBot key={bot} {...common(bot)} editor={editor} endpoint={own[bot]} about={about}>
                {!used && evaluation(bot)}
              </OwnBot>
            );
          }
          return (
            <Registered key={bot} {...common(bot)} editor={editor} known={known} about={answersAs(bot)} />
          );
        })}
        <QcExamination editor={editor} onTry={() => setTrying("qc")} />
      </ul>
      {bots.length === 0 && (
        <p class="soft">The study names no bots yet. Add one, or choose a bot for each system in the form.</p>
      )}
      {others.length > 0 && <h2 class="label">Registered, not in this study</h2>}
      <ul class="bot-list">
        {others.map((bot) => (
          <Registered key={bot} {...common(bot)} editor={editor} known={known} about="">
            {evaluation(bot)}
            <Button kind="quiet" onClick={() => setRemoving(bot)}>
              Remove
              <span class="unseen"> {bot}</span>
            </Button>
          </Registered>
        ))}
      </ul>
      <div class="actions">
        <Button kind="secondary" onClick={() => setAdding(true)}>
          <Icon of={Plus} />
          Add a bot
        </Button>
      </div>
      {removing && <Remove name={removing} onClose={() => setRemoving(null)} />}
      {adding && (
        <Dialog title="Add a bot" onClose={() => setAdding(false)}>
          <AddBot
            editor={editor}
            root={settings.schema_of_study as Schema}
            onAdded={() => setAdding(false)}
            onCancel={() => setAdding(false)}
          />
        </Dialog>
      )}
      {trying && (
        <TryBot
          editor={editor}
          bot={trying}
          free={settings.builtin_bots.includes(trying)}
          onClose={() => setTrying(null)}
        />
      )}
    </div>
  );
}

interface BotProps {
  bot: string;
  about: string;
  editor: Editor;
  onTry: () => void;
  children?: ComponentChildren;
}

/** One of the study's own bots: what is checked is what stands in the form now. */
function OwnBot({ bot, about, editor, endpoint, onTry, children }: BotProps & { endpoint: unknown }) {
  const mayCheck = may(useContext(AccountContext), "rehearse");
  const { check, isOfNow, start } = useOwnCheck(editor.saved.name, bot, endpoint);
  const view = check?.view ?? null;
  const running = view?.state === "running" && check?.failure === "";
  return (
    <BotRow
      bot={bot}
      about={about}
      onTry={onTry}
      check={<CheckResult check={view} bot={bot} />}
      found={
        check && (
          <>
            {running && <p class="soft small">Keep this page open until the check is over.</p>}
            <p class="complaint">{check.failure}</p>
            {view?.report && !isOfNow && (
              <p class="small">The bot’s settings have changed since. Check it again.</p>
            )}
            <CheckLines check={view} />
          </>
        )
      }
    >
      {mayCheck && (
        <CheckButton bot={bot} running={running || editor.busy} onCheck={() => void start(editor.text)} />
      )}
      {children}
    </BotRow>
  );
}

/** A bot that is registered with the server, and its check. */
function Registered({
  bot,
  about,
  editor,
  known,
  onTry,
  children,
}: BotProps & { known: CheckedBot[] | null }) {
  const { token } = useContext(ResearcherContext);
  const mayCheck = may(useContext(AccountContext), "change_bots");
  const [failure, setFailure] = useState("");
  const found = known?.find((each) => each.name === bot);
  const start = async () => {
    setFailure("");
    // What it is to be fit for; the server takes another study with it as long as this one has mistakes.
    const study = editor.mistakes.length === 0 ? editor.text : null;
    try {
      await send("POST", apiAddress("/api/desk/bots/{name}/check", { name: bot }), { study }, token, "Check");
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  };
  const where = ["registered", about].filter(Boolean).join(", ");
  if (!found) {
    return (
      <BotRow
        bot={bot}
        about={about}
        check={known && <span class="complaint">No bot has this name. Correct it, or add the bot.</span>}
      />
    );
  }
  return (
    <BotRow
      bot={bot}
      about={where}
      onTry={onTry}
      check={<CheckResult check={found.check} bot={bot} />}
      found={
        (failure || found.check?.report) && (
          <>
            <p class="complaint">{failure}</p>
            <CheckLines check={found.check} />
          </>
        )
      }
    >
      {mayCheck && (
        <CheckButton bot={bot} running={found.check?.state === "running"} onCheck={() => void start()} />
      )}
      {children}
    </BotRow>
  );
}

function CheckButton({ bot, running, onCheck }: { bot: string; running: boolean; onCheck: () => void }) {
  return (
    <Button kind="secondary" busy={running} onClick={onCheck}>
      Check
      <span class="unseen"> {bot}</span>
    </Button>
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
          Cancel
        </Button>
        <Button kind="danger" onClick={() => void remove()}>
          Remove
        </Button>
      </div>
    </Dialog>
  );
}

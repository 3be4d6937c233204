import { RotateCcw } from "lucide";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { Icon } from "../../design/Icon";
import { isEnter } from "../../shared/keyboard";
import { piecesOf } from "../studies/checked";
import type { Editor } from "../studies/editor";
import { Making } from "./Making";
import { isHeld, money, type Round, useTrial } from "./trial";

const ALONE = "";

interface Props {
  editor: Editor;
  bot: string;
  /** Whether replies cost nothing, because the bot comes with Candor. */
  free: boolean;
  onClose: () => void;
}

/** A chat with a bot, before anything is opened: what was sent, what came back, and what became of it. */
export function TryBot({ editor, bot, free, onClose }: Props) {
  const systems = named(editor.content?.systems, "name", (each) => each.bot === bot);
  const scenarios = named(editor.content?.scenarios, "label", () => true);
  const [system, setSystem] = useState(systems[0] ?? ALONE);
  const [scenario, setScenario] = useState(ALONE);
  const [text, setText] = useState("");
  /** What is sent once the study's text has taken up the latest changes. */
  const [waiting, setWaiting] = useState<string | null>(null);
  const trial = useTrial(editor.saved.name, editor.text, bot);
  const field = useRef<HTMLTextAreaElement>(null);
  const end = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => field.current?.focus(), []);
  useEffect(() => end.current?.scrollIntoView({ block: "nearest" }), [trial.rounds]);
  const say = async (said: string) => {
    if (editor.busy) {
      setWaiting(said);
    } else if (said.trim() && !trial.busy) {
      setText("");
      setWaiting(null);
      const role = { system: system || null, scenario: scenario || null };
      if (!(await trial.say(said.trim(), role))) {
        setText(said);
      }
      field.current?.focus();
    }
  };
  useEffect(() => {
    if (waiting !== null && !editor.busy) {
      void say(waiting);
    }
  }, [waiting, editor.busy]);
  const change = (set: (value: string) => void) => (value: string) => {
    set(value);
    trial.restart();
  };
  return (
    <Dialog title={`Try ${bot}`} onClose={onClose} sheet>
      <p class="soft small">
        The study as it stands now, saved or not. Nothing is stored, and the calls don’t count toward spending
        caps.
      </p>
      {(systems.length > 0 || scenarios.length > 0) && (
        <div class="trial-role">
          {systems.length > 0 && (
            <Choice label="Answers as" value={system} onChoose={change(setSystem)}>
              {[...systems.map((name) => [name, name] as const), [ALONE, "No system: no persona or prompt"]]}
            </Choice>
          )}
          {scenarios.length > 0 && (
            <Choice label="Scenario" value={scenario} onChoose={change(setScenario)}>
              {[[ALONE, "None"], ...scenarios.map((name) => [name, name] as const)]}
            </Choice>
          )}
        </div>
      )}
      <div class="trial-talk" role="log" aria-label="Conversation">
        {trial.rounds.length === 0 && <p class="trial-none soft">Write what a worker might say.</p>}
        {trial.rounds.map((round, index) => (
          <TrialRound
            key={index}
            round={round}
            before={trial.rounds.slice(0, index).filter(isHeld)}
            free={free}
            onRepeat={
              index === trial.rounds.length - 1 && !trial.busy ? () => void say(round.said) : undefined
            }
          />
        ))}
        <div ref={end} />
      </div>
      <form
        class="trial-foot"
        onSubmit={(event) => {
          event.preventDefault();
          void say(text);
        }}
      >
        <label class="unseen" for={id}>
          Message
        </label>
        <textarea
          id={id}
          ref={field}
          class="input"
          rows={2}
          placeholder="Message"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (isEnter(event) && !event.shiftKey) {
              event.preventDefault();
              void say(text);
            }
          }}
        />
        <Button type="submit" off={text.trim() === ""} busy={trial.busy || waiting !== null}>
          Send
        </Button>
        <div class="trial-below">
          <Total rounds={trial.rounds} />
          <Button kind="quiet" off={trial.rounds.length === 0 || trial.busy} onClick={trial.restart}>
            <Icon of={RotateCcw} />
            Start over
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Close
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  onChoose: (value: string) => void;
  /** Values and their names. */
  children: (readonly [string, string])[];
}

function Choice({ label, value, onChoose, children }: ChoiceProps) {
  const id = useId();
  return (
    <div class="field">
      <label class="label" for={id}>
        {label}
      </label>
      <select
        id={id}
        class="input"
        value={value}
        onChange={({ currentTarget }) => onChoose(currentTarget.value)}
      >
        {children.map(([each, name]) => (
          <option key={each} value={each}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}

interface RoundProps {
  round: Round;
  /** The rounds that the bot was told of. */
  before: Round[];
  free: boolean;
  onRepeat: (() => void) | undefined;
}

function TrialRound({ round, before, free, onRepeat }: RoundProps) {
  const { said, answer, refusal } = round;
  const trouble = answer?.trouble ?? (refusal === null ? null : { what: refusal, remedy: "", details: "" });
  return (
    <>
      <div class="line line-worker">
        <span class="unseen">You: </span>
        <p>{said}</p>
      </div>
      {answer === null && refusal === null && <p class="trial-wait soft small">Waiting for the reply…</p>}
      {answer?.text && (
        <div class="line line-bot">
          <span class="unseen">Bot: </span>
          <p>{answer.text}</p>
        </div>
      )}
      {trouble && (
        <div class="trial-trouble">
          <p>
            <strong>{trouble.what}</strong> {trouble.remedy}
          </p>
          {trouble.details && (
            <p class="soft">
              {piecesOf(trouble.details).map(({ text, code }, index) =>
                code ? <code key={index}>{text}</code> : text,
              )}
            </p>
          )}
          {onRepeat && (
            <Button kind="secondary" onClick={onRepeat}>
              Try again
            </Button>
          )}
        </div>
      )}
      {answer && <Making answer={answer} said={said} before={before} free={free} />}
    </>
  );
}

function Total({ rounds }: { rounds: Round[] }) {
  const costs = rounds.map(({ answer }) => answer?.provenance?.cost ?? null).filter((cost) => cost !== null);
  if (costs.length < 2) {
    return null;
  }
  const total = costs.reduce((sum, cost) => sum + cost, 0);
  return <span class="soft small trial-total">{`Cost so far: ${money(total)}`}</span>;
}

/** Return what the things in a list of the study are called, those without a name left out. */
function named(list: unknown, name: string, wanted: (each: Record<string, unknown>) => boolean): string[] {
  const each = (Array.isArray(list) ? list : []) as (Record<string, unknown> | null)[];
  return each
    .filter((one) => one !== null && typeof one === "object")
    .filter(wanted)
    .map((one) => one[name])
    .filter((found): found is string => typeof found === "string");
}

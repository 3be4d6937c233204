import { ArrowLeft, ArrowRight } from "lucide";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Icon } from "../../design/Icon";
import type { StudySettings } from "../api_types";
import { AddBot, evaluate, systemsOf } from "../bots/AddBot";
import type { Editor } from "./editor";
import type { SettingsEditor } from "./Field";
import { Folded, fieldsOf } from "./Fields";
import { beginIn } from "./focus";
import { Review } from "./Review";
import { ScaleOfAll } from "./ScaleOfAll";
import { type Path, type Schema, valueAt } from "./settings";
import { problemsInWords, STEPS, type Step, type StepName, shownIn, told, unusedBy, within } from "./steps";

interface Props {
  editor: Editor;
  settings: StudySettings;
  step: StepName;
  onStep: (step: StepName) => void;
  onOpenRun: () => void;
}

/** One step of a study: what it holds, what is missing, and a field for each of its settings. */
export function Form({ editor, settings, step: name, onStep, onOpenRun }: Props) {
  const root = settings.schema_of_study as Schema;
  const at = STEPS.findIndex(({ step }) => step === name);
  const step = STEPS[at] as Step;
  const { content } = editor;
  const form = useRef<HTMLDivElement>(null);
  const shown = useRef<StepName | null>(null);
  useEffect(() => {
    if (name === "review") {
      editor.ask();
    }
  }, [name]);
  const isRead = content !== null;
  useLayoutEffect(() => {
    // A study without a title is a new one; others are opened to be looked at.
    if (isRead && shown.current !== name && (shown.current !== null || !content.title)) {
      beginIn(form.current);
    }
    shown.current = isRead ? name : null;
  }, [name, isRead]);
  if (!content) {
    return (
      <p class="failure">
        {editor.busy && editor.mistakes.length === 0
          ? "Reading the study…"
          : "The form can’t show this text. Fix it as YAML first."}
      </p>
    );
  }
  const previous = STEPS[at - 1];
  const next = STEPS[at + 1];
  const missing = problemsInWords(within(step, editor.mistakes), content);
  return (
    <div
      ref={form}
      class="study-step study-fields"
      onFocusOut={({ target }) => {
        const { name: field } = target as HTMLInputElement;
        if (field) {
          editor.leave(field);
        }
      }}
    >
      <header>
        <h2 tabIndex={-1}>{step.title}</h2>
        <p class="soft">{step.about}</p>
        {missing && <p class="study-missing small">{missing}</p>}
      </header>
      {step.step === "review" ? (
        <Review editor={editor} root={root} onOpenRun={onOpenRun} />
      ) : (
        <StepFields key={step.step} editor={editor} settings={settings} step={step} />
      )}
      <nav class="study-way" aria-label="Neighbouring steps">
        {previous ? (
          <Button kind="quiet" onClick={() => onStep(previous.step)}>
            <Icon of={ArrowLeft} />
            {previous.title}
          </Button>
        ) : (
          <span />
        )}
        {next && (
          <Button kind="secondary" onClick={() => onStep(next.step)}>
            {`Next: ${next.title}`}
            <Icon of={ArrowRight} />
          </Button>
        )}
      </nav>
    </div>
  );
}

function StepFields({ editor, settings, step }: Pick<Props, "editor" | "settings"> & { step: Step }) {
  const root = settings.schema_of_study as Schema;
  const content = editor.content ?? {};
  const own = Object.keys((content.bots as Record<string, unknown> | undefined) ?? {});
  const names = shownIn(step, root, content);
  // A study without systems begins with its bots; in any other they are added now and then.
  const [opened] = useState(() => systemsOf(editor).length === 0);
  /** Another task does without some settings: they go with the old one. */
  const set = (path: Path, value: unknown) => {
    if (path.length === 1 && path[0] === "task") {
      for (const name of unusedBy(String(value), root)) {
        if (valueAt(content, [name]) !== undefined) {
          editor.remove([name]);
        }
      }
    }
    editor.set(path, value);
  };
  const careful: SettingsEditor = {
    ...editor,
    set,
    mistakes: told(editor.mistakes, content, editor.left, editor.asked),
  };
  return (
    <>
      <datalist id="bots-of-studies">
        {[...own, ...settings.registered_bots, ...settings.builtin_bots].map((bot) => (
          <option key={bot} value={bot} />
        ))}
      </datalist>
      {step.step === "bots" && names.includes("systems") && (
        <details class="study-group" open={opened}>
          <summary class="label">Add a bot</summary>
          <AddBot editor={editor} root={root} onAdded={(bot) => evaluate(editor, bot)} />
        </details>
      )}
      {step.step === "ratings" && <ScaleOfAll editor={editor} />}
      <Folded
        editor={careful}
        root={root}
        fields={fieldsOf(names, root)}
        suggestions={{ bot: "bots-of-studies", take_over: "bots-of-studies" }}
      />
    </>
  );
}

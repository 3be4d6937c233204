import { useContext, useEffect, useState } from "preact/hooks";
import { Stepper } from "../../design/Stepper";
import { Tabs } from "../../design/Tabs";
import { AccountContext, owns } from "../account";
import { getJson, Unauthorised } from "../api";
import type { StudyDetail, StudySettings } from "../api_types";
import { Bots } from "../bots/Bots";
import { LoadStatus } from "../LoadStatus";
import { StudyPeople } from "../people/StudyPeople";
import { ResearcherContext } from "../researcher";
import { GoContext } from "../route";
import { type Editor, useEditor } from "./editor";
import { Form } from "./Form";
import { Preview } from "./Preview";
import type { Schema } from "./settings";
import { STEPS, type Step, type StepName, told, within } from "./steps";
import "./studies.css";
import { StudyHead } from "./StudyHead";
import { Versions } from "./Versions";
import { YamlEditor } from "./YamlEditor";

/** One study: its settings as a form and as the file that they are stored as, and what workers will see. */
export function StudyView({ study, step }: { study: string; step: StepName | undefined }) {
  const { token, onUnauthorised } = useContext(ResearcherContext);
  const [found, setFound] = useState<{ study: StudyDetail; settings: StudySettings } | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    const control = new AbortController();
    Promise.all([
      getJson("/api/desk/studies/{study}", { study }, token, control.signal),
      getJson("/api/desk/study-settings", {}, token, control.signal),
    ]).then(
      ([detail, settings]) => setFound({ study: detail, settings }),
      (error: unknown) => {
        if (!control.signal.aborted) {
          if (error instanceof Unauthorised) {
            onUnauthorised();
          }
          setFailure(error instanceof Error ? error.message : String(error));
        }
      },
    );
    return () => control.abort();
  }, [study, token]);
  return (
    <>
      {failure && !found && <h1>{study}</h1>}
      <LoadStatus failure={failure} empty={found === null} />
      {found && <Opened study={found.study} settings={found.settings} step={step} />}
    </>
  );
}

type Tab = "form" | "yaml" | "preview" | "bots" | "versions" | "people";
const TABS: { tab: Tab; name: string }[] = [
  { tab: "form", name: "Form" },
  { tab: "yaml", name: "YAML" },
  { tab: "preview", name: "Preview" },
  { tab: "bots", name: "Bots" },
  { tab: "versions", name: "Versions" },
  { tab: "people", name: "People" },
];

interface OpenedProps {
  study: StudyDetail;
  settings: StudySettings;
  step: StepName | undefined;
}

function Opened({ study, settings, step = "basics" }: OpenedProps) {
  const editor = useEditor(study);
  const go = useContext(GoContext);
  const [opening, setOpening] = useState(false);
  const [tab, setTab] = useState<Tab>("form");
  const [beside, setBeside] = useState<Tab>("preview");
  const wide = useWide();
  const mine = owns(useContext(AccountContext), study.name);
  const goTo = (next: StepName) => {
    setTab("form");
    go({ page: "study", study: study.name, step: next });
  };
  const tabs = TABS.filter(({ tab }) => mine || tab !== "people");
  const panels = (shown: Tab) => {
    switch (shown) {
      case "form":
        return (
          <Form
            editor={editor}
            settings={settings}
            step={step}
            onStep={goTo}
            onOpenRun={() => setOpening(true)}
          />
        );
      case "yaml":
        return <YamlEditor editor={editor} />;
      case "preview":
        return <Preview editor={editor} root={settings.schema_of_study as Schema} step={step} />;
      case "bots":
        return <Bots editor={editor} settings={settings} />;
      case "versions":
        return <Versions editor={editor} />;
      case "people":
        return <StudyPeople study={study.name} />;
    }
  };
  useKeys(editor);
  return (
    <div class="study">
      <StudyHead editor={editor} reviewing={step === "review"} opening={opening} onOpening={setOpening} />
      <Stepper
        label="Steps of the study"
        steps={STEPS.map((each) => ({
          step: each.step,
          name: each.title,
          ...stateOf(each, editor),
        }))}
        now={step}
        onChoose={goTo}
      />
      <div class="study-panes">
        <div>
          {wide ? (
            panels("form")
          ) : (
            <Tabs label="Views of the study" tabs={tabs} now={tab} onChoose={setTab}>
              {panels(tab)}
            </Tabs>
          )}
        </div>
        {wide && (
          <aside class="study-beside" aria-label="Beside the form">
            <Tabs
              label="Views beside the form"
              tabs={tabs.filter((each) => each.tab !== "form")}
              now={beside}
              onChoose={setBeside}
            >
              {panels(beside)}
            </Tabs>
          </aside>
        )}
      </div>
    </div>
  );
}

/** How a step stands: complete, wrong, or with fields that are still empty. */
function stateOf(step: Step, { mistakes, content, left, asked }: Editor) {
  const here = within(step, mistakes);
  if (step.step === "review" || content === null) {
    return {};
  }
  if (told(here, content, left, asked).length > 0) {
    return { state: "wrong" as const, problems: here.length };
  }
  return here.length > 0 ? { problems: here.length } : { state: "done" as const };
}

/** Ctrl+Z, Ctrl+Shift+Z and Ctrl+S, wherever the focus is: a field's own undo knows only that field. */
function useKeys({ undo, redo, save }: Editor) {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const key = event.ctrlKey || event.metaKey ? event.key.toLowerCase() : "";
      const does = key === "s" ? () => void save() : key === "z" ? (event.shiftKey ? redo : undo) : null;
      if (does && !document.querySelector("dialog[open]")) {
        event.preventDefault();
        does();
      }
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [undo, redo, save]);
}

/** Whether there is room for the form and something beside it. */
function useWide(): boolean {
  const query = "(min-width: 60rem)";
  const [wide, setWide] = useState(() => window.matchMedia(query).matches);
  useEffect(() => {
    const media = window.matchMedia(query);
    const hear = () => setWide(media.matches);
    media.addEventListener("change", hear);
    return () => media.removeEventListener("change", hear);
  }, []);
  return wide;
}

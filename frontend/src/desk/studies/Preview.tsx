import { Monitor, Smartphone } from "lucide";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { Segmented } from "../../design/Segmented";
import { Skeleton } from "../../design/Skeleton";
import { Stepper } from "../../design/Stepper";
import { atServer } from "../../shared/site";
import { send, Unauthorised } from "../api";
import type { MistakeView, PreviewStep, StudyPreview } from "../api_types";
import { ResearcherContext } from "../researcher";
import type { Editor } from "./editor";
import { nameOf } from "./names";
import type { Schema } from "./settings";
import type { StepName } from "./steps";

const QUIET_MS = 400;
const NAMES: Record<string, string> = {
  instructions: "Instructions",
  questions_before: "Questions before",
  tutorial: "Tutorial",
  topic: "Topic",
  chat: "Chat",
  choice: "Choice",
  rating: "Rating",
  quiz: "Quiz",
  questions_after: "Questions after",
  feedback: "Feedback",
  done: "Done",
};

/** The pages on which the settings of a step are seen, the most telling first. */
const PHASES: Record<StepName, string[]> = {
  basics: ["instructions"],
  consent: ["instructions"],
  task: ["topic", "chat", "rating"],
  bots: ["chat"],
  ratings: ["rating", "choice"],
  quality: ["quiz", "tutorial", "rating"],
  recruiting: ["done"],
  review: ["instructions"],
};

type Device = "phone" | "computer";
const DEVICES = [
  { value: "phone", name: "Phone", icon: Smartphone },
  { value: "computer", name: "Computer", icon: Monitor },
] as const;

/** The worker's page, as a worker will see it. Nothing is stored, and no bot is asked. */
export function Preview({ editor, root, step }: { editor: Editor; root: Schema; step: StepName }) {
  const { token, onUnauthorised } = useContext(ResearcherContext);
  const frame = useRef<HTMLIFrameElement>(null);
  const [steps, setSteps] = useState<PreviewStep[]>([]);
  const [failure, setFailure] = useState<string | null>(null);
  const [replaced, setReplaced] = useState<MistakeView[]>([]);
  const [phase, setPhase] = useState("instructions");
  const [device, setDevice] = useState<Device>("phone");
  const [ready, setReady] = useState(0);
  const now = Math.max(
    0,
    steps.findIndex((step) => step.phase === phase),
  );
  const shown = steps[now];

  useEffect(() => {
    const timer = setTimeout(async () => {
      try {
        const body = { yaml: editor.text, valid: editor.valid };
        const preview = (await send("POST", "/api/desk/study-preview", body, token)) as StudyPreview;
        setReplaced(preview.mistakes);
        if (preview.steps.length > 0) {
          setFailure(null);
          setSteps(preview.steps);
        } else {
          setFailure("This study can’t be shown yet. Fix its text as YAML first.");
        }
      } catch (error) {
        if (error instanceof Unauthorised) {
          onUnauthorised();
        } else {
          setFailure(error instanceof Error ? error.message : String(error));
        }
      }
    }, QUIET_MS);
    return () => clearTimeout(timer);
  }, [editor.text, token]);

  useEffect(() => {
    const [first] = PHASES[step].filter((each) => steps.some(({ phase: shown }) => shown === each));
    if (first) {
      setPhase(first);
    }
  }, [step, steps.length > 0]);

  useEffect(() => {
    const hear = (event: MessageEvent<{ preview?: string }>) => {
      if (event.origin === window.location.origin && event.source === frame.current?.contentWindow) {
        if (event.data.preview === "ready") {
          setReady((count) => count + 1);
        } else if (event.data.preview === "next") {
          const next = steps[now + 1];
          if (next) {
            setPhase(next.phase);
          }
        }
      }
    };
    window.addEventListener("message", hear);
    return () => window.removeEventListener("message", hear);
  }, [steps, now]);

  useEffect(() => {
    if (shown) {
      frame.current?.contentWindow?.postMessage({ snapshot: shown.snapshot }, window.location.origin);
    }
  }, [shown, ready]);

  return (
    <div class="preview">
      <Stepper
        label="Steps of the worker’s page"
        steps={steps.map(({ phase: each }) => ({ step: each, name: NAMES[each] ?? each }))}
        now={shown?.phase ?? phase}
        onChoose={setPhase}
      />
      <Segmented label="Shown as on" choices={DEVICES} value={device} onChange={setDevice} />
      <div role="status">
        {failure && <p class="failure">{failure}</p>}
        {!failure && replaced.length > 0 && (
          <p class="soft small">{`Placeholders or earlier values are shown for ${placesIn(replaced, root)}.`}</p>
        )}
      </div>
      {!shown && !failure && <Skeleton lines={6} />}
      <iframe
        ref={frame}
        class={`preview-frame ${device === "phone" ? "preview-phone" : ""} ${shown ? "" : "preview-none"}`}
        title="The worker’s page"
        src={atServer("/preview")}
      />
      <p class="soft small">
        Nothing here is stored, and no bot is asked. Its buttons lead to the next page.
      </p>
    </div>
  );
}

/** The settings that have mistakes, by their names. */
function placesIn(mistakes: MistakeView[], root: Schema): string {
  const names = [
    ...new Set(
      mistakes.map(({ path }) => (path.length > 0 ? nameOf(path.slice(0, 1), root).label : "the text")),
    ),
  ];
  return names.slice(0, 4).join(", ") + (names.length > 4 ? " and others" : "");
}

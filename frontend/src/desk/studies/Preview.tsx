import { Monitor, Smartphone } from "lucide";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { Segmented } from "../../design/Segmented";
import { Stepper } from "../../design/Stepper";
import { atServer } from "../../shared/site";
import { send, Unauthorised } from "../api";
import type { PreviewStep, StudyPreview } from "../api_types";
import { ResearcherContext } from "../researcher";
import type { Editor } from "./editor";

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

type Device = "phone" | "computer";
const DEVICES = [
  { value: "phone", name: "Phone", icon: Smartphone },
  { value: "computer", name: "Computer", icon: Monitor },
] as const;

/** The worker's page, as a worker will see it. Nothing is stored, and no bot is asked. */
export function Preview({ editor }: { editor: Editor }) {
  const { token, onUnauthorised } = useContext(ResearcherContext);
  const frame = useRef<HTMLIFrameElement>(null);
  const [steps, setSteps] = useState<PreviewStep[]>([]);
  const [failure, setFailure] = useState<string | null>(null);
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
        const body = { yaml: editor.text };
        const preview = (await send("POST", "/api/desk/study-preview", body, token)) as StudyPreview;
        setFailure(null);
        if (preview.mistakes.length > 0) {
          const [first] = preview.mistakes;
          const place = first?.path.length ? `${first.path.join(".")}: ` : "";
          setFailure(`This study can’t be shown yet. Line ${first?.line ?? 1}: ${place}${first?.reason}.`);
        } else {
          setSteps(preview.steps);
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
      <div role="status">{failure && <p class="failure">{failure}</p>}</div>
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

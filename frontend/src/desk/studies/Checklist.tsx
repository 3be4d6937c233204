import { Check } from "lucide";
import { Button } from "../../design/Button";
import { Icon } from "../../design/Icon";
import type { StudySummary } from "../api_types";
import { Link } from "../Link";

/** The study that comes with a new installation. */
const DEMO = "demo";

/** What leads to a first run of one's own: shown until there is one. */
export function Checklist({ studies, onNew }: { studies: StudySummary[]; onNew: () => void }) {
  const own = studies.filter(({ name }) => name !== DEMO);
  if (own.some(({ runs }) => runs.length > 0)) {
    return null;
  }
  const [study] = [...own].sort((one, other) => one.mistakes - other.mistakes);
  const complete = study?.mistakes === 0;
  const steps = [
    { name: "Create a study", done: study !== undefined },
    { name: "Add bots, and fill in what is missing", done: complete },
    { name: "Try it: look at the preview, then rehearse it", done: false },
    { name: "Open a run, and send its link to workers", done: false },
  ];
  const now = steps.findIndex(({ done }) => !done);
  return (
    <section class="box checklist" aria-labelledby="checklist">
      <h2 id="checklist">Your first study</h2>
      <ol>
        {steps.map(({ name, done }, index) => (
          <li key={name} aria-current={index === now ? "step" : undefined}>
            <span class="stepper-mark" aria-hidden="true">
              {done ? <Icon of={Check} /> : index + 1}
            </span>
            <span>
              {name}
              {done && <span class="unseen">, done</span>}
            </span>
          </li>
        ))}
      </ol>
      {study === undefined ? (
        <Button kind="secondary" onClick={onNew}>
          Create a study
        </Button>
      ) : (
        <Link to={{ page: "study", study: study.name, step: complete ? "review" : "bots" }}>
          {complete ? `Review ${study.name}` : `Add bots to ${study.name}`}
        </Link>
      )}
    </section>
  );
}

import { Button } from "../../design/Button";
import type { MistakeView } from "../api_types";
import { capitalised, inMinutes } from "../format";
import { Link } from "../Link";
import type { Editor } from "./editor";
import { choiceInShort, placeInWords } from "./in_short";
import { nameOf } from "./names";
import type { Schema } from "./settings";
import { STEPS, shownIn, within } from "./steps";

interface Props {
  editor: Editor;
  root: Schema;
  onOpenRun: () => void;
}

/** The whole study in short: what was chosen in each step, what is still to do, and the way to a run. */
export function Review({ editor, root, onOpenRun }: Props) {
  const { mistakes, dirty, busy, saved } = editor;
  const content = editor.content ?? {};
  const others = mistakes.filter((each) => !STEPS.some((step) => within(step, [each]).length > 0));
  return (
    <>
      <p>{inShort(editor, content)}</p>
      {others.length > 0 && <Problems mistakes={others} root={root} />}
      <ol class="study-review">
        {STEPS.filter(({ step }) => step !== "review").map((step) => {
          const wrong = within(step, mistakes);
          const given = shownIn(step, root, content).filter((name) => (content[name] ?? "") !== "");
          return (
            <li key={step.step}>
              <h3>
                <Link to={{ page: "study", study: saved.name, step: step.step }}>{step.title}</Link>
              </h3>
              {given.length === 0 && wrong.length === 0 && <p class="soft small">The standard settings.</p>}
              <dl class="study-choices small">
                {given.map((name) => (
                  <div key={name}>
                    <dt class="soft">{nameOf([name], root).label}</dt>
                    <dd>{choiceInShort([name], content[name], root)}</dd>
                  </div>
                ))}
              </dl>
              <Problems mistakes={wrong} root={root} />
            </li>
          );
        })}
      </ol>
      <div class="actions">
        <Button off={mistakes.length > 0 || busy} onClick={onOpenRun}>
          Open a run
        </Button>
        {dirty && (
          <Button kind="secondary" onClick={() => void editor.save()}>
            Save
          </Button>
        )}
      </div>
    </>
  );
}

function Problems({ mistakes, root }: { mistakes: MistakeView[]; root: Schema }) {
  if (mistakes.length === 0) {
    return null;
  }
  return (
    <ul class="study-problems small">
      {mistakes.map(({ path, reason }) => (
        <li key={`${path.join(".")} ${reason}`} class="complaint">
          {path.length > 0 && `${placeInWords(path, root)}: `}
          {capitalised(reason)}
        </li>
      ))}
    </ul>
  );
}

/** How much a worker does and what it may cost, in a sentence. */
function inShort({ minutes, conversations }: Editor, content: Record<string, unknown>): string {
  const workers = typeof content.assignments === "number" ? content.assignments : null;
  const cap = typeof content.spending_cap === "number" ? content.spending_cap : null;
  const of =
    content.task === "transcripts" ? "items" : content.task === "side_by_side" ? "pairs" : "conversations";
  const parts = [
    minutes === null ? "" : `about ${inMinutes(minutes)} per worker`,
    conversations === null ? "" : `${conversations} ${of} each`,
    workers === null ? "no limit on the number of workers" : `at most ${workers} workers`,
    typeof content.payment === "string" && content.payment ? `pay: ${content.payment}` : "",
    cap === null ? "" : `the bots may cost at most ${cap}`,
  ].filter(Boolean);
  return `${capitalised(parts.join(" · "))}.`.replace(/\.\.$/, ".");
}

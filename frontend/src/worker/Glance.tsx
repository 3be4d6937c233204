import type { ComponentChildren } from "preact";
import { useTexts } from "./hooks";
import type { StudyCard } from "./session/protocol";
import { TASKS } from "./tasks";

/** What it takes and what it brings, before everything else. */
export function Glance({ study }: { study: StudyCard }) {
  const { say } = useTexts();
  const { duration, payment, task, conversations: n } = study;
  return (
    <dl class="glance" aria-label={say("instructions.glance")}>
      {duration !== null && (
        <Fact name={say("instructions.time")}>{say("instructions.minutes", { n: duration })}</Fact>
      )}
      <Fact name={say("instructions.amount")}>{say(TASKS[task].amount, { n })}</Fact>
      <Fact name={say("instructions.payment")}>
        <span dir="auto">{payment}</span>
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

import type { FunnelStep } from "../api_types";
import { phaseName, stageName } from "../phases";

/** A stage of the funnel: the steps of one conversation together. */
interface Stage {
  name: string;
  reached: number;
  now: string;
  lost: string;
}

/** How far workers come, stage by stage, and where they are lost. */
export function Funnel({ steps }: { steps: FunnelStep[] }) {
  const stages = stagesOf(steps);
  const most = Math.max(1, stages[0]?.reached ?? 1);
  return (
    <section aria-labelledby="funnel">
      <div class="section-head">
        <h2 id="funnel">Drop-off by step</h2>
      </div>
      <ol class="box funnel">
        {stages.map(({ name, reached, now, lost }) => (
          <li key={name}>
            <span>{name}</span>
            <span class="funnel-bar" aria-hidden="true">
              <span style={{ width: `${(100 * reached) / most}%` }} />
            </span>
            <span class="number">
              {reached}
              <span class="unseen"> came so far</span>
            </span>
            <span class="small funnel-now">{now && `${now} now`}</span>
            <span class="small funnel-lost">{lost && `lost ${lost}`}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** The steps of each conversation taken together, in order. */
export function stagesOf(steps: FunnelStep[]): Stage[] {
  const stages = new Map<string, FunnelStep[]>();
  for (const step of steps) {
    const name = step.position === null ? stageName(step.step) : `Conversation ${step.position}`;
    stages.set(name, [...(stages.get(name) ?? []), step]);
  }
  return [...stages].map(([name, parts]) => ({
    name,
    reached: parts[0]?.reached ?? 0,
    now: said(parts, "now"),
    lost: said(parts, "lost"),
  }));
}

function said(parts: FunnelStep[], what: "now" | "lost"): string {
  return parts
    .filter((part) => part[what] > 0 && part.step !== "done")
    .map((part) => (part.position === null ? `${part[what]}` : `${part[what]} at ${phaseName(part.step)}`))
    .join(", ");
}

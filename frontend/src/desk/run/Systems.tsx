import { Bar } from "../../design/Bar";
import { Table } from "../../design/Table";
import type { SystemProgress } from "../api_types";

const PARTS = ["rated", "unrated", "active", "planned", "failed", "skipped"] as const;

interface Props {
  systems: SystemProgress[];
  /** What simulated workers have done; nothing where there are none. */
  simulated: SystemProgress[];
}

/** How far every system is, against the balance that is aimed at; simulated workers apart from people. */
export function Systems({ systems, simulated }: Props) {
  if (simulated.length > 0 && systems.every((system) => held(system) === 0)) {
    return (
      <section aria-labelledby="simulated-systems">
        <SystemsTable id="simulated-systems" title="Simulated workers" systems={simulated} />
      </section>
    );
  }
  return (
    <section aria-labelledby="systems">
      <SystemsTable id="systems" title="Systems" systems={systems} />
      {simulated.length > 0 && (
        <details class="apart">
          <summary>What simulated workers did</summary>
          <SystemsTable id="simulated-systems" title="Simulated workers" systems={simulated} />
        </details>
      )}
    </section>
  );
}

function SystemsTable({ id, title, systems }: { id: string; title: string; systems: SystemProgress[] }) {
  // Hardly ever is a conversation skipped: only when no chatbot was left to replace one that failed.
  const skipping = systems.some(({ skipped }) => skipped > 0);
  // Only a study with a `rate_share` leaves some unrated.
  const leaving = systems.some(({ unrated }) => unrated > 0);
  const aiming = systems.some(({ aim }) => aim !== null && aim > 0);
  const parts = PARTS.filter((part) => (part !== "skipped" || skipping) && (part !== "unrated" || leaving));
  const most = Math.max(1, ...systems.map((system) => Math.max(system.aim ?? 0, held(system))));
  return (
    <>
      <div class="section-head">
        <h2 id={id}>{title}</h2>
        <ul class="key" aria-hidden="true">
          {parts.map((part) => (
            <li key={part}>
              <span class={`swatch swatch-${part}`} />
              {part}
            </li>
          ))}
          {aiming && (
            <li>
              <span class="swatch-aim" />
              target
            </li>
          )}
        </ul>
      </div>
      <Table
        label={`Table of systems, ${title.toLowerCase()}`}
        cards
        columns={[
          { name: "System" },
          { name: "Conversations", kind: "wide" },
          { name: "Rated", kind: "number" },
          ...(aiming ? [{ name: "Target", kind: "number" } as const] : []),
          ...(leaving ? [{ name: "Unrated", kind: "number" } as const] : []),
          { name: "Active", kind: "number" },
          { name: "Planned", kind: "number" },
          { name: "Failed", kind: "number" },
          ...(skipping ? [{ name: "Skipped", kind: "number" } as const] : []),
          { name: "Messages", kind: "number" },
        ]}
      >
        {systems.map((system) => (
          <tr key={system.system}>
            <th scope="row">
              {system.system}
              {(system.is_qc || system.family !== system.system) && (
                <span class="soft small block">{system.is_qc ? "quality control" : system.family}</span>
              )}
            </th>
            <td data-name="Conversations" class="wide">
              <Aimed system={system} most={most} />
            </td>
            <Count name="Rated" count={system.rated} />
            {aiming && <Count name="Target" count={Math.round(system.aim ?? 0)} />}
            {leaving && <Count name="Unrated" count={system.unrated} />}
            <Count name="Active" count={system.active} />
            <Count name="Planned" count={system.planned} />
            <td data-name="Failed" class={system.failed > 0 ? "number poor" : "number"}>
              {system.failed}
            </td>
            {skipping && <Count name="Skipped" count={system.skipped} />}
            <Count name="Messages" count={system.inputs} />
          </tr>
        ))}
      </Table>
    </>
  );
}

function Count({ name, count }: { name: string; count: number }) {
  return (
    <td data-name={name} class="number">
      {count}
    </td>
  );
}

function held(system: SystemProgress): number {
  return PARTS.reduce((sum, part) => sum + system[part], 0);
}

function Aimed({ system, most }: { system: SystemProgress; most: number }) {
  return (
    <div class="bars-aimed" aria-hidden="true">
      <Bar
        parts={PARTS.filter((part) => system[part] > 0).map((part) => ({
          share: (100 * system[part]) / most,
          kind: part,
        }))}
      />
      {system.aim !== null && system.aim > 0 && (
        <span class="aim" style={{ left: `${(100 * system.aim) / most}%` }} />
      )}
    </div>
  );
}

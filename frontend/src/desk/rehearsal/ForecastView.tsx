import { Table } from "../../design/Table";
import type { Forecast, RehearsalJob } from "../api_types";
import { inMinutes, when } from "../format";
import { percent } from "../jobs/numbers";
import { PowerChart } from "./PowerChart";
import "./rehearsal.css";

/** What a rehearsal foretells. */
export function ForecastView({ rehearsal }: { rehearsal: RehearsalJob }) {
  const { forecast } = rehearsal;
  if (forecast === null) {
    return null;
  }
  return (
    <section aria-labelledby="forecast">
      <div class="section-head">
        <h2 id="forecast">Forecast for {forecast.plan.workers} people</h2>
        <p class="soft small">Rehearsed {when(rehearsal.created_at)}</p>
      </div>
      <div class="box job">
        <dl class="figures">
          <Figure name="Duration of an assignment" value={inMinutes(Math.round(forecast.minutes))} />
          <Figure name="Cost with fees" value={forecast.cost === null ? "–" : forecast.cost.toFixed(2)} />
          <Figure
            name={`Chance to tell ${forecast.first} and ${forecast.second} apart`}
            value={percent(forecast.apart)}
          />
          <Figure
            name={`People for a chance of ${percent(forecast.power)}`}
            value={forecast.needed === null ? "over 20,000" : String(forecast.needed)}
          />
        </dl>
        <PowerChart forecast={forecast} />
        {rehearsal.trouble && (
          <p class="failure">Some simulated workers did not finish: {rehearsal.trouble}</p>
        )}
      </div>
      <Numbers forecast={forecast} />
      <Systems forecast={forecast} />
      <h3>Assumptions</h3>
      <ul class="assumed">
        {forecast.assumed.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </section>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Numbers({ forecast }: { forecast: Forecast }) {
  const priced = forecast.cost !== null;
  return (
    <>
      <h3>With fewer or more people</h3>
      <Table
        label="Table of numbers of people"
        columns={[
          { name: "People" },
          { name: "Widest interval", kind: "number" },
          { name: "Told apart", kind: "number" },
          ...(priced ? [{ name: "Cost with fees", kind: "number" } as const] : []),
        ]}
      >
        {forecast.chances.map(({ workers, half_width, apart, cost }) => (
          <tr key={workers} class={workers === forecast.plan.workers ? "planned" : undefined}>
            <th scope="row">{workers}</th>
            <td class="number">z ± {half_width.toFixed(2)}</td>
            <td class="number">{percent(apart)}</td>
            {priced && <td class="number">{cost?.toFixed(2)}</td>}
          </tr>
        ))}
      </Table>
    </>
  );
}

function Systems({ forecast }: { forecast: Forecast }) {
  return (
    <>
      <h3>Intervals to expect</h3>
      <Table
        label="Table of expected intervals"
        columns={[
          { name: "System" },
          { name: "z as simulated", kind: "number" },
          { name: "Interval", kind: "number" },
        ]}
      >
        {forecast.scores.map(({ system, z, half_width }) => (
          <tr key={system}>
            <th scope="row">{system}</th>
            <td class="number">{signed(z)}</td>
            <td class="number">
              {signed(z - half_width)} to {signed(z + half_width)}
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}

function signed(value: number): string {
  return value.toFixed(2).replace("-", "−");
}

import { useEffect, useMemo, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Table } from "../../design/Table";
import type { RunAnalysis } from "../api_types";
import { useFetched } from "../fetched";
import { signed } from "../format";
import { Chart } from "./Chart";
import { type Band, bandsOf, someOf, widestOf, withNewest } from "./narrowing";

/** So many systems are drawn unless more are asked for. */
const AT_FIRST = 5;
/** So many looks stand in the table. */
const IN_TABLE = 12;

/** How the interval of each score has narrowed with the ratings, and how far the widest is from its target. */
export function Narrowing({ run, analysis }: { run: string; analysis: RunAnalysis | null }) {
  const { data } = useFetched("/api/desk/runs/{run}/narrowing", { run }, run);
  const [looks, setLooks] = useState(data?.points ?? []);
  const [all, setAll] = useState(false);
  useEffect(() => setLooks(withNewest(data?.points ?? [], analysis)), [data]);
  useEffect(() => setLooks((before) => withNewest(before, analysis)), [analysis]);
  const bands = useMemo(() => bandsOf(looks), [looks]);
  if (looks.length < 2) {
    return null;
  }
  const withWidest = data?.target != null || widestOf(bands).some((width) => width !== null);
  const shown = all ? bands : bands.slice(0, AT_FIRST);
  const range = rangeOf(bands);
  return (
    <section aria-labelledby="narrowing">
      <div class="section-head">
        <h2 id="narrowing">How the intervals narrow</h2>
        <p class="soft small">Each interval holds whenever you look.</p>
      </div>
      <div class="box charts">
        {withWidest && <Widest bands={bands} target={data?.target ?? null} />}
        {shown.map((band) => (
          <figure key={band.system}>
            <figcaption class="small">
              <strong>{band.system}</strong> <span class="soft">{lastOf(band)}</span>
            </figcaption>
            <Chart
              label={`Score of ${band.system} over the number of ratings: ${lastOf(band)}.`}
              x={band.ratings}
              y="z score"
              line={band.z}
              band={band}
              range={range}
            />
          </figure>
        ))}
      </div>
      {bands.length > AT_FIRST && (
        <div class="actions">
          <Button kind="quiet" onClick={() => setAll(!all)}>
            {all ? `Show the first ${AT_FIRST} systems` : `Show all ${bands.length} systems`}
          </Button>
        </div>
      )}
      <details class="apart">
        <summary>The same as a table</summary>
        <LooksTable bands={bands} />
      </details>
    </section>
  );
}

/** The widest interval, which ends the run where its target is one. */
function Widest({ bands, target }: { bands: Band[]; target: number | null }) {
  const widest = useMemo(() => widestOf(bands), [bands]);
  const last = widest.at(-1) ?? null;
  const now = last === null ? "Not every system has an interval yet." : `Now ${last.toFixed(2)} wide.`;
  const aim = target === null ? "" : ` The run ends below ${target}.`;
  const highest = Math.max(target ?? 0, ...widest.map((width) => width ?? 0), 0.1);
  return (
    <figure>
      <figcaption class="small">
        <strong>Widest interval</strong> <span class="soft">{`${now}${aim}`}</span>
      </figcaption>
      <Chart
        label={`Width of the widest interval over the number of ratings. ${now}${aim}`}
        x={bands[0]?.ratings ?? []}
        y="Width"
        line={widest}
        range={[0, 1.05 * highest]}
        level={target}
      />
    </figure>
  );
}

function LooksTable({ bands }: { bands: Band[] }) {
  const ratings = bands[0]?.ratings ?? [];
  const rows = someOf(ratings.length, IN_TABLE).reverse();
  return (
    <Table
      label="Table of intervals by the number of ratings"
      columns={[{ name: "Ratings", kind: "number" }, ...bands.map(({ system }) => ({ name: system }))]}
    >
      {rows.map((at) => (
        <tr key={ratings[at]}>
          <th scope="row" class="number">
            {ratings[at]}
          </th>
          {bands.map((band) => (
            <td key={band.system}>{intervalAt(band, at)}</td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

function lastOf(band: Band): string {
  return intervalAt(band, band.ratings.length - 1);
}

function intervalAt({ z, low, high }: Band, at: number): string {
  const [score, from, to] = [z[at] ?? null, low[at] ?? null, high[at] ?? null];
  if (score === null) {
    return "–";
  }
  return from === null || to === null
    ? `${signed(score)}, no interval yet`
    : `${signed(score)} (${signed(from)} to ${signed(to)})`;
}

/** From the lowest to the highest end that any of the systems had in the last three quarters of the looks. */
function rangeOf(bands: Band[]): [number, number] {
  const ends = bands.flatMap(({ low, high, z }) =>
    [low, high, z].flatMap((values) => values.slice(Math.floor(values.length / 4))),
  );
  const known = ends.filter((end) => end !== null);
  return [Math.min(0, ...known) - 0.1, Math.max(0, ...known) + 0.1];
}

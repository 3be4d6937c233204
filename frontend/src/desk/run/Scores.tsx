import { sorted } from "../../design/sorting";
import type { RunAnalysis, ScoreStanding } from "../api_types";
import { ago, signed, when } from "../format";
import { counted } from "../words";

interface Props {
  analysis: RunAnalysis | null;
  /** Whether anybody but simulated workers has come. */
  people: boolean;
  now: Date;
}

/** How sure the scores are so far, and who passes: no verdict while ratings come in. */
export function Scores({ analysis, people, now }: Props) {
  return (
    <section aria-labelledby="scores">
      <div class="section-head">
        <h2 id="scores">Scores so far</h2>
        {analysis && (
          <p class="soft small" title={when(analysis.at)}>
            {counted(analysis.ratings, "rating")}, updated {ago(analysis.at, now)}
          </p>
        )}
      </div>
      {analysis === null || analysis.scores.length === 0 ? (
        <p class="soft">
          {people ? "No ratings yet." : "No ratings by people yet. Simulated ratings have no scores."}
        </p>
      ) : (
        <div class="box scores">
          <PassRate counts={analysis.pass_rate} />
          {analysis.scores.every(({ conversations }) => conversations === 0) ? (
            <p class="soft">No scores yet: they count the workers who pass quality control.</p>
          ) : (
            <>
              <Chart scores={analysis.scores} />
              <p class="soft small">
                Each dot is a system’s z score, each bar its interval. Intervals hold whenever you look, and
                narrow as ratings come in. Two systems differ if their intervals do not overlap.
              </p>
            </>
          )}
          {analysis.notes.length > 0 && (
            <ul class="notes soft small">
              {analysis.notes.map((note) => (
                <li key={note}>{note}</li>
              ))}
            </ul>
          )}
        </div>
      )}
    </section>
  );
}

function PassRate({ counts }: { counts: RunAnalysis["pass_rate"] }) {
  const { passed, failed, undecided } = counts;
  const share = passed + failed === 0 ? "" : ` (${Math.round((100 * passed) / (passed + failed))} %)`;
  return (
    <p>
      Quality control so far: <strong>{passed}</strong> pass{share}, <strong>{failed}</strong> fail,{" "}
      <strong>{undecided}</strong> undecided.
    </p>
  );
}

function Chart({ scores }: { scores: ScoreStanding[] }) {
  const axis = axisOf(scores);
  const ranked = sorted(scores, ({ z }) => z, "descending");
  return (
    <div class="intervals">
      <ul>
        {ranked.map((score) => (
          <Interval key={score.system} score={score} axis={axis} />
        ))}
      </ul>
      <div class="interval-axis" aria-hidden="true">
        <div class="interval-ticks">
          {axis.ticks.map((tick) => (
            <span key={tick} style={{ left: axis.at(tick) }}>
              {tick === 0 ? "0" : signed(tick)}
            </span>
          ))}
        </div>
        <p>z score, higher is better</p>
      </div>
    </div>
  );
}

interface Axis {
  ticks: number[];
  /** Where a value lies, from the left. */
  at: (value: number) => string;
}

const STEPS = [0.1, 0.2, 0.5, 1, 2, 5];
const MOST_TICKS = 7;
/** Beyond the outermost values, as a share of what they span: a dot is drawn whole. */
const MARGIN = 0.05;

/** The axis below scores: from the lowest to the highest end of any interval, with 0 in between. */
export function axisOf(scores: Pick<ScoreStanding, "low" | "high" | "z">[]): Axis {
  const ends = scores.flatMap(({ low, high, z }) => [low, high, z]).filter((end) => end !== null);
  const [least, most] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  const margin = MARGIN * Math.max(0.1, most - least);
  const [from, to] = [least - margin, most + margin];
  const step = STEPS.find((each) => (to - from) / each < MOST_TICKS) ?? 10;
  const first = Math.ceil(from / step);
  const count = Math.floor(to / step) - first + 1;
  return {
    ticks: Array.from({ length: count }, (_, index) => (first + index) * step),
    at: (value) => `${(100 * (value - from)) / (to - from)}%`,
  };
}

function Interval({ score, axis: { ticks, at } }: { score: ScoreStanding; axis: Axis }) {
  const { system, z, low, high } = score;
  return (
    <li>
      <span class="interval-name">
        {system}
        <span class="soft small"> {counted(score.conversations, "conversation")}</span>
      </span>
      <span class="interval" aria-hidden="true">
        {ticks.map((tick) => (
          <span
            key={tick}
            class={tick === 0 ? "interval-zero" : "interval-tick"}
            style={{ left: at(tick) }}
          />
        ))}
        {low !== null && high !== null && (
          <span class="interval-bar" style={{ left: at(low), right: `calc(100% - ${at(high)})` }} />
        )}
        {z !== null && <span class="interval-point" style={{ left: at(z) }} />}
      </span>
      <span class="number small">
        {z === null ? "–" : signed(z)}
        {low !== null && high !== null ? (
          <span class="soft">
            {" "}
            from {signed(low)} to {signed(high)}
          </span>
        ) : (
          <span class="soft"> no interval yet</span>
        )}
      </span>
    </li>
  );
}

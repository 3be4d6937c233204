import type { RunAnalysis, ScoreStanding } from "../api_types";
import { ago, signed, when } from "../format";

/** How sure the scores are so far, and who passes: no verdict while ratings come in. */
export function Scores({ analysis, now }: { analysis: RunAnalysis | null; now: Date }) {
  return (
    <section aria-labelledby="scores">
      <div class="section-head">
        <h2 id="scores">Scores so far</h2>
        {analysis && (
          <p class="soft small" title={when(analysis.at)}>
            {analysis.ratings} ratings, looked at {ago(analysis.at, now)}
          </p>
        )}
      </div>
      {analysis === null || analysis.scores.length === 0 ? (
        <p class="soft">No ratings yet.</p>
      ) : (
        <div class="box scores">
          <PassRate counts={analysis.pass_rate} />
          <ul class="intervals">
            {analysis.scores.map((score) => (
              <Interval key={score.system} score={score} range={rangeOf(analysis.scores)} />
            ))}
          </ul>
          <p class="soft small">
            z of each system with its interval: a confidence sequence, which holds at every look and narrows
            as ratings come in. Two systems whose intervals do not overlap differ.
          </p>
          {analysis.notes.map((note) => (
            <p key={note} class="soft small">
              {note}
            </p>
          ))}
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
      <strong>{passed}</strong> workers pass the filter so far{share}, <strong>{failed}</strong> do not,{" "}
      <strong>{undecided}</strong> cannot be told yet.
    </p>
  );
}

/** From the lowest to the highest end of any interval, with 0 in between. */
export function rangeOf(scores: ScoreStanding[]): [low: number, high: number] {
  const ends = scores.flatMap(({ low, high, z }) => [low, high, z]).filter((end) => end !== null);
  return [Math.min(0, ...ends), Math.max(0, ...ends, Math.min(0, ...ends) + 0.1)];
}

function Interval({ score, range: [from, to] }: { score: ScoreStanding; range: [number, number] }) {
  const at = (value: number) => `${(100 * (value - from)) / (to - from)}%`;
  const { system, z, low, high } = score;
  return (
    <li>
      <span>
        {system}
        <span class="soft small"> {score.conversations} conversations</span>
      </span>
      <span class="interval" aria-hidden="true">
        <span class="interval-zero" style={{ left: at(0) }} />
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

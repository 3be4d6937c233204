import type { IncidentRow } from "../api_types";
import { ago, when } from "../format";
import { Link } from "../Link";

const KINDS: Record<string, string> = {
  bot_error: "A try failed",
  bot_gave_up: "The bot gave up",
  replaced: "Replaced",
  gave_itself_away: "Said what it is",
  offensive_reply: "Offensive words of the bot",
  offensive_input: "Offensive words of the worker",
  flagged_reply: "The classifier flags the bot",
  flagged_input: "The classifier flags the worker",
};

/** The latest incidents, the newest first. */
export function Incidents({ run, incidents, now }: { run: string; incidents: IncidentRow[]; now: Date }) {
  return (
    <section aria-labelledby="incidents">
      <div class="section-head">
        <h2 id="incidents">Incidents</h2>
        {incidents.length > 0 && <p class="soft small">the latest {incidents.length}</p>}
      </div>
      {incidents.length === 0 ? (
        <p class="soft">Nothing has gone wrong.</p>
      ) : (
        <ul class="box incident-list">
          {incidents.map((incident, index) => (
            <li key={incidents.length - index}>
              <span class="soft small" title={when(incident.at)}>
                {ago(incident.at, now)}
              </span>
              <span>
                <strong>{KINDS[incident.kind] ?? incident.kind}</strong>
                {incident.failure && ` (${incident.failure})`}:{" "}
                <span class="incident-text">{incident.text}</span>
              </span>
              <span class="small">
                {incident.system} ·{" "}
                <Link to={{ page: "assignment", run, assignment: incident.assignment }}>
                  {incident.worker}
                </Link>
                {incident.simulated && <span class="tag">simulated</span>}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

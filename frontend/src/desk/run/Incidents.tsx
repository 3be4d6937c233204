import { Time } from "../../design/Time";
import type { IncidentRow } from "../api_types";
import { ago, moment } from "../format";
import { incidentName } from "../incidents";
import { Link } from "../Link";

/** The latest incidents, the newest first. */
export function Incidents({ run, incidents, now }: { run: string; incidents: IncidentRow[]; now: Date }) {
  return (
    <section aria-labelledby="incidents">
      <div class="section-head">
        <h2 id="incidents">Incidents</h2>
        {incidents.length > 0 && <p class="soft small">The latest {incidents.length}</p>}
      </div>
      {incidents.length === 0 ? (
        <p class="soft">No incidents.</p>
      ) : (
        <ul class="box incident-list">
          {incidents.map((incident, index) => (
            <li key={incidents.length - index}>
              <span class="soft small">
                <Time at={moment(incident.at)} words={ago(incident.at, now)} />
              </span>
              <span>
                <strong>{incidentName(incident.kind)}</strong>
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

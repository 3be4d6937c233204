import { MessagesSquare } from "lucide";
import { useEffect, useId, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Empty } from "../../design/Empty";
import { Time } from "../../design/Time";
import type { RunDetail } from "../api_types";
import { useFetched } from "../fetched";
import { moment } from "../format";
import { Link } from "../Link";
import { LoadStatus } from "../LoadStatus";
import { Status } from "../Status";

/** The conversations of a run, found by what was said and how they stand; asked of the server page by page, and
 * again when another worker is forgotten. */
export function Transcripts({ run, forgotten }: { run: RunDetail; forgotten: number }) {
  const [wanted, setWanted] = useState({ text: "", system: "", incidents: false });
  const [pages, setPages] = useState<string[]>([""]);
  const [asked, setAsked] = useState(0);
  const id = useId();
  const query = {
    ...(wanted.text ? { text: wanted.text } : {}),
    ...(wanted.system ? { system: wanted.system } : {}),
    ...(wanted.incidents ? { incidents: "true" } : {}),
    ...(pages.at(-1) ? { after: pages.at(-1) as string } : {}),
  };
  const all = !(wanted.text || wanted.system || wanted.incidents);
  const [none, setNone] = useState(true);
  // Until there is one to show, every message that arrives is a reason to ask again.
  const version =
    all && none ? `${asked} ${run.systems.reduce((sum, { inputs }) => sum + inputs, 0)}` : asked;
  const { data, failure } = useFetched(
    "/api/desk/runs/{run}/conversations",
    { run: run.run },
    `${version} ${forgotten}`,
    query,
  );
  useEffect(() => setNone(!data?.conversations.length), [data]);
  const look = (change: Partial<typeof wanted>) => {
    setWanted({ ...wanted, ...change });
    setPages([""]);
  };
  return (
    <section aria-labelledby="transcripts">
      <div class="section-head">
        <h2 id="transcripts">Transcripts</h2>
        <Button kind="quiet" onClick={() => setAsked(asked + 1)}>
          Refresh
        </Button>
      </div>
      <div class="filters">
        <label class="unseen" for={`${id}-text`}>
          Words that were said
        </label>
        <input
          id={`${id}-text`}
          class="input"
          type="search"
          placeholder="Words that were said"
          onChange={(event) => look({ text: event.currentTarget.value })}
          onInput={(event) => event.currentTarget.value === "" && look({ text: "" })} // its cross is no change
        />
        <label class="unseen" for={`${id}-system`}>
          System
        </label>
        <select
          id={`${id}-system`}
          class="input"
          value={wanted.system}
          onChange={(event) => look({ system: event.currentTarget.value })}
        >
          <option value="">Every system</option>
          {run.systems.map(({ system }) => (
            <option key={system}>{system}</option>
          ))}
        </select>
        <label class="filter-check">
          <input
            type="checkbox"
            checked={wanted.incidents}
            onChange={(event) => look({ incidents: event.currentTarget.checked })}
          />{" "}
          with incidents only
        </label>
      </div>
      <LoadStatus failure={failure} empty={data === null} />
      {data?.conversations.length === 0 && (
        <Empty
          icon={MessagesSquare}
          title={all ? "Nobody has said anything yet." : "No conversation is like that."}
        />
      )}
      {data && data.conversations.length > 0 && (
        <ul class="box incident-list">
          {data.conversations.map((hit) => (
            <li key={hit.conversation}>
              <span class="soft small">{hit.started_at ? <Time at={moment(hit.started_at)} /> : "–"}</span>
              <span>
                <Link to={{ page: "assignment", run: run.run, assignment: hit.assignment }}>
                  {hit.worker}, no. {hit.position}
                </Link>{" "}
                with {hit.system} {hit.simulated && <span class="tag">simulated</span>}
                <span class="block soft small incident-text">{hit.line ?? "Nothing was said."}</span>
              </span>
              <span class="small">
                <Status status={hit.status} /> {hit.inputs} {hit.inputs === 1 ? "message" : "messages"}
                {hit.incidents > 0 && <span class="poor"> · {hit.incidents} incidents</span>}
              </span>
            </li>
          ))}
        </ul>
      )}
      {(pages.length > 1 || data?.after) && (
        <nav class="pages" aria-label="Pages of transcripts">
          <Button kind="secondary" off={pages.length === 1} onClick={() => setPages(pages.slice(0, -1))}>
            Newer
          </Button>
          <Button
            kind="secondary"
            off={!data?.after}
            onClick={() => setPages(data?.after ? [...pages, data.after] : pages)}
          >
            Older
          </Button>
        </nav>
      )}
    </section>
  );
}

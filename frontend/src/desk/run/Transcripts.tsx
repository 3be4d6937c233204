import { MessagesSquare } from "lucide";
import { useId, useRef, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Empty } from "../../design/Empty";
import { Time } from "../../design/Time";
import type { ConversationHit, RunDetail } from "../api_types";
import { useFetched } from "../fetched";
import { moment } from "../format";
import { useKeys, useSingleKeys } from "../keys";
import { Link } from "../Link";
import { LoadStatus } from "../LoadStatus";
import { Status } from "../Status";
import { counted } from "../words";

/** The conversations of a run, found by what was said and how they stand. The server is asked page by page; the newest
 * ones are asked for again as the run goes on. */
export function Transcripts({ run }: { run: RunDetail }) {
  const [wanted, setWanted] = useState({ text: "", system: "", incidents: false });
  const [pages, setPages] = useState<string[]>([""]);
  const [asked, setAsked] = useState(0);
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  const step = (by: number) => {
    const links = [...(list.current?.querySelectorAll<HTMLElement>("a") ?? [])];
    const at = links.indexOf(document.activeElement as HTMLElement);
    links[Math.max(0, at + by)]?.focus();
  };
  const keys = useSingleKeys();
  useKeys({ j: () => step(1), k: () => step(-1) });
  const query = {
    ...(wanted.text ? { text: wanted.text } : {}),
    ...(wanted.system ? { system: wanted.system } : {}),
    ...(wanted.incidents ? { incidents: "true" } : {}),
    ...(pages.at(-1) ? { after: pages.at(-1) as string } : {}),
  };
  const all = !(wanted.text || wanted.system || wanted.incidents);
  const isLive = all && pages.length === 1;
  const { data, failure } = useFetched(
    "/api/desk/runs/{run}/conversations",
    { run: run.run },
    isLive ? `${asked} ${progressOf(run)}` : asked,
    query,
  );
  const look = (change: Partial<typeof wanted>) => {
    setWanted({ ...wanted, ...change });
    setPages([""]);
  };
  const found = data?.conversations ?? [];
  return (
    <section aria-labelledby="transcripts">
      <div class="section-head">
        <h2 id="transcripts">Transcripts</h2>
        {isLive ? (
          found.length > 0 &&
          keys.on && (
            <p class="soft small keys">
              <kbd>j</kbd> next <kbd>k</kbd> previous <kbd>Enter</kbd> read
            </p>
          )
        ) : (
          <Button kind="quiet" onClick={() => setAsked(asked + 1)}>
            Refresh
          </Button>
        )}
      </div>
      {!(all && data && pages.length === 1 && found.length === 0) && (
        <div class="filters">
          <label class="unseen" for={`${id}-text`}>
            Words in the conversation
          </label>
          <input
            id={`${id}-text`}
            class="input"
            type="search"
            placeholder="Words in the conversation"
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
            <option value="">All systems</option>
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
            With incidents only
          </label>
        </div>
      )}
      <LoadStatus failure={failure} empty={data === null} />
      {data && found.length === 0 && (
        <Empty
          icon={MessagesSquare}
          title={all ? "No conversations yet." : "No conversations match this search."}
        >
          {all && (
            <p>
              They appear here as workers chat. The <Link to={{ page: "run", run: run.run }}>overview</Link>{" "}
              says how to bring workers in.
            </p>
          )}
        </Empty>
      )}
      {found.length > 0 && (
        <ul ref={list} class="box hits">
          {found.map((hit) => (
            <Hit key={hit.conversation} run={run.run} hit={hit} />
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

function Hit({ run, hit }: { run: string; hit: ConversationHit }) {
  return (
    <li class="hit">
      <span>
        <Link to={{ page: "assignment", run, assignment: hit.assignment, part: String(hit.position) }}>
          {hit.worker}, no. {hit.position}
        </Link>{" "}
        with {hit.system} {hit.simulated && <span class="tag">simulated</span>}
      </span>
      <span class="soft small incident-text hit-line">{hit.line ?? "No messages."}</span>
      <span class="small hit-facts">
        <span class="soft">{hit.started_at ? <Time at={moment(hit.started_at)} /> : "–"}</span>
        <span>{counted(hit.inputs, "message")}</span>
        {hit.incidents > 0 && <span class="poor">{counted(hit.incidents, "incident")}</span>}
        <Status status={hit.status} />
      </span>
    </li>
  );
}

/** How far the conversations of a run have come, as a word that changes with each of them. */
function progressOf({ workers }: RunDetail): string {
  return [
    workers.length,
    ...workers.filter(({ status }) => status === "active").map(({ inputs, step }) => `${inputs}${step}`),
  ].join();
}

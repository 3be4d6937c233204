import { useContext, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Table } from "../../design/Table";
import { AccountContext, may } from "../account";
import { getFile, getJson } from "../api";
import type { WorkerIdentity } from "../api_types";
import { ResearcherContext } from "../researcher";
import { Forget } from "./Forget";

const COLUMNS = ["Worker", "Id", "Visit", "Status", "Code", "Actions"].map((name) => ({ name }));

/** Looks up whom a pseudonym stands for, and the other way round; for those only who may. Each look is logged. */
export function WorkerIds({ run, onForgotten }: { run: string; onForgotten: () => void }) {
  const account = useContext(AccountContext);
  const { token } = useContext(ResearcherContext);
  const [text, setText] = useState("");
  const [found, setFound] = useState<WorkerIdentity[] | null>(null);
  const [leaving, setLeaving] = useState<string | null>(null);
  const [complaint, setComplaint] = useState("");
  const [done, setDone] = useState("");
  if (!may(account, "see_worker_ids")) {
    return null;
  }
  const guarded = async (work: () => Promise<void>) => {
    setComplaint("");
    setDone("");
    await work().catch((error: unknown) =>
      setComplaint(error instanceof Error ? error.message : String(error)),
    );
  };
  const ask = async (query: Record<string, string>) => {
    const { signal } = new AbortController();
    return (await getJson("/api/desk/runs/{run}/worker-ids", { run }, token, signal, query)).workers;
  };
  const look = (event: Event) => {
    event.preventDefault();
    void guarded(async () => {
      const byPseudonym = await ask({ worker: text.trim() });
      setFound(byPseudonym.length > 0 ? byPseudonym : await ask({ external_id: text.trim() }));
    });
  };
  const showRenamed = (pseudonym: string) =>
    guarded(async () => {
      setText("");
      setFound(await ask({ worker: pseudonym }));
      setDone(`The worker is forgotten. Their new pseudonym is ${pseudonym}.`);
    });
  return (
    <section aria-labelledby="worker-ids">
      <div class="section-head">
        <h2 id="worker-ids">Look up a worker</h2>
        <p class="soft small">
          Find the id behind a pseudonym, or the pseudonym of an id. The audit log records every look-up.
        </p>
      </div>
      <form class="box sought" aria-label="Look a worker up" onSubmit={look}>
        <div class="field">
          <label class="label" for="worker-sought">
            Pseudonym or id
          </label>
          <input
            id="worker-sought"
            class="input"
            required
            autocomplete="off"
            value={text}
            aria-describedby="worker-complaint"
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <p class="complaint" id="worker-complaint" role="alert">
            {complaint}
          </p>
        </div>
        <div class="actions">
          <Button type="submit">Look up</Button>
          <Button
            kind="secondary"
            onClick={() =>
              void guarded(() =>
                getFile(
                  `/api/desk/runs/${encodeURIComponent(run)}/worker-ids.csv`,
                  token,
                  {},
                  "worker-ids.csv",
                ),
              )
            }
          >
            Save all as CSV
          </Button>
        </div>
      </form>
      <div role="status">
        {found?.length === 0 && <p class="soft">No worker in this run has this pseudonym or id.</p>}
        {done && <p>{done}</p>}
      </div>
      {found && found.length > 0 && (
        <Table cards label="Workers found" columns={COLUMNS}>
          {found.map((worker) => (
            <tr key={worker.assignment}>
              <th scope="row">{worker.worker}</th>
              <td data-name="Id">{worker.external_id ?? "forgotten"}</td>
              <td data-name="Visit">{worker.visit ?? "–"}</td>
              <td data-name="Status">{worker.status}</td>
              <td data-name="Code">{worker.completion_code ?? "–"}</td>
              <td>
                {worker.external_id !== null && may(account, "forget_workers") && (
                  <Button kind="quiet" onClick={() => setLeaving(worker.worker)}>
                    Forget…<span class="unseen"> {worker.worker}</span>
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {leaving && (
        <Forget
          worker={leaving}
          onClose={(renamed) => {
            setLeaving(null);
            if (renamed !== null) {
              onForgotten();
              void showRenamed(renamed);
            }
          }}
        />
      )}
    </section>
  );
}

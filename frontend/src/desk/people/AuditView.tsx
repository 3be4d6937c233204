import { SearchX } from "lucide";
import { useContext, useEffect, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Empty } from "../../design/Empty";
import { Table } from "../../design/Table";
import { Time } from "../../design/Time";
import { getFile, getJson } from "../api";
import type { AuditRow } from "../api_types";
import { moment } from "../format";
import { LoadStatus } from "../LoadStatus";
import { ResearcherContext } from "../researcher";

const FIELDS = [
  ["actor", "Account", ""],
  ["action", "Action starts with", "run."],
  ["subject", "Subject", ""],
] as const;
const COLUMNS = ["Time", "Account", "Action", "Subject", "Details"].map((name) => ({ name }));

/** What was done on this installation, and by whom: newest first, found by filters, saved as CSV. */
export function AuditView() {
  const { token } = useContext(ResearcherContext);
  const [wanted, setWanted] = useState<Record<string, string>>({});
  const [rows, setRows] = useState<AuditRow[] | null>(null);
  const [more, setMore] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const load = async (before: AuditRow[], signal: AbortSignal) => {
    const last = before.at(-1);
    const query = { ...wanted, ...(last ? { before: String(last.id) } : {}) };
    try {
      const page = await getJson("/api/desk/audit", {}, token, signal, query);
      setRows([...before, ...page.entries]);
      setMore(page.more);
      setFailure(null);
    } catch (error) {
      if (!signal.aborted) {
        setFailure(error instanceof Error ? error.message : String(error));
      }
    }
  };
  useEffect(() => {
    const control = new AbortController();
    void load([], control.signal);
    return () => control.abort();
  }, [JSON.stringify(wanted), token]);
  const save = () =>
    getFile("/api/desk/audit.csv", token, wanted, "audit.csv").catch((error: unknown) =>
      setFailure(error instanceof Error ? error.message : String(error)),
    );
  return (
    <>
      <h1>Audit log</h1>
      <form class="box sought" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
        {FIELDS.map(([field, label, example]) => (
          <div key={field} class="field">
            <label class="label" for={`audit-${field}`}>
              {label}
            </label>
            <input
              id={`audit-${field}`}
              class="input"
              autocomplete="off"
              placeholder={example}
              value={wanted[field] ?? ""}
              onInput={(event) => setWanted(changed(wanted, field, event.currentTarget.value))}
            />
          </div>
        ))}
        <div class="actions">
          <Button kind="secondary" onClick={() => void save()}>
            Save as CSV
          </Button>
        </div>
      </form>
      <LoadStatus failure={failure} empty={rows === null} />
      {rows?.length === 0 && <Empty icon={SearchX} title="No entries match these filters." />}
      {rows && rows.length > 0 && (
        <Table cards label="Table of actions" columns={COLUMNS}>
          {rows.map((row) => (
            <tr key={row.id}>
              <td data-name="Time">
                <Time at={moment(row.at)} />
              </td>
              <td data-name="Account" class="wrap actor">
                {row.actor}
              </td>
              <td data-name="Action" class="code-cell">
                {row.action}
              </td>
              <td data-name="Subject">{row.subject}</td>
              <td data-name="Details" class="wrap">
                {row.detail}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {more && rows && (
        <div class="actions">
          <Button kind="secondary" onClick={() => void load(rows, new AbortController().signal)}>
            Show older entries
          </Button>
        </div>
      )}
    </>
  );
}

function changed(wanted: Record<string, string>, field: string, value: string): Record<string, string> {
  const { [field]: _, ...others } = wanted;
  return value ? { ...others, [field]: value } : others;
}

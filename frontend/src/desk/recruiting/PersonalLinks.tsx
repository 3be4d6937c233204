import { useContext, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { apiAddress, postForFile, Unauthorised } from "../api";
import { ResearcherContext } from "../researcher";

/** Makes a personal, signed link for each worker of a list, and saves them as a file. */
export function PersonalLinks({ run }: { run: string }) {
  const { token, onUnauthorised } = useContext(ResearcherContext);
  const [workers, setWorkers] = useState("");
  const [complaint, setComplaint] = useState("");
  const [saved, setSaved] = useState(false);
  const change = (text: string) => {
    setWorkers(text);
    setComplaint("");
    setSaved(false);
  };
  const take = async (input: HTMLInputElement) => {
    const file = input.files?.[0];
    if (file) {
      change(await file.text());
    }
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      const address = apiAddress("/api/desk/runs/{run}/links.csv", { run });
      await postForFile(address, token, { workers }, `${run}-links.csv`);
      setComplaint("");
      setSaved(true);
    } catch (error) {
      if (error instanceof Unauthorised) {
        onUnauthorised();
      }
      setSaved(false);
      setComplaint(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <section class="recruiting-part" aria-label="Personal links">
      <h2>Personal links</h2>
      <form class="box flow-form" onSubmit={(event) => void submit(event)}>
        <p class="soft">
          For workers whose ids you have in a list. Each link is signed for one id, so nobody can use another
          one. Opening a link again continues the session.
        </p>
        <div class="field">
          <label class="label" for="worker-list">
            Worker ids
          </label>
          <p class="soft small" id="worker-list-hint">
            One id per line, or CSV with a column named worker.
          </p>
          <textarea
            id="worker-list"
            class="input"
            rows={5}
            aria-describedby="worker-list-hint"
            value={workers}
            onInput={(event) => change(event.currentTarget.value)}
          />
        </div>
        <div class="field">
          <label class="label" for="worker-file">
            Or a file of ids
          </label>
          <input
            id="worker-file"
            type="file"
            accept=".csv,.txt,text/csv,text/plain"
            onChange={(event) => void take(event.currentTarget)}
          />
        </div>
        <p class="complaint" role="alert">
          {complaint}
        </p>
        <div class="actions">
          <Button type="submit" off={workers.trim() === ""}>
            Save links as CSV
          </Button>
        </div>
        <p class="soft small" role="status">
          {saved && "Links saved."}
        </p>
      </form>
    </section>
  );
}

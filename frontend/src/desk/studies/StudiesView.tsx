import { FlaskConical } from "lucide";
import { useContext, useId, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { Empty } from "../../design/Empty";
import { TextField } from "../../design/TextField";
import { send } from "../api";
import type { StudyDetail, StudyList, StudySummary } from "../api_types";
import { ago } from "../format";
import { Link } from "../Link";
import { LoadStatus } from "../LoadStatus";
import { newestOf, usePushed } from "../pushed";
import { ResearcherContext } from "../researcher";
import { GoContext } from "../route";
import { Status } from "../Status";
import "./studies.css";

/** Every study; those that are archived only where they are asked for. */
export function StudiesView() {
  const { data, failure } = usePushed("/api/desk/watch/studies", {}, newestOf<StudyList>);
  const [adding, setAdding] = useState(false);
  const [archived, setArchived] = useState(false);
  const hidden = data?.studies.filter((study) => study.archived).length ?? 0;
  return (
    <>
      <div class="run-head">
        <h1>Studies</h1>
        <Button onClick={() => setAdding(true)}>New study</Button>
      </div>
      <LoadStatus failure={failure} empty={data === null} />
      {data?.studies.length === 0 && (
        <Empty icon={FlaskConical} title="There is no study yet.">
          <p>A study says whom workers talk to, what they rate, and what they read.</p>
          <Button onClick={() => setAdding(true)}>Make the first one</Button>
        </Empty>
      )}
      <ul class="study-cards">
        {data?.studies
          .filter((study) => archived || !study.archived)
          .map((study) => (
            <li key={study.name} class="box">
              <Study study={study} />
            </li>
          ))}
      </ul>
      {hidden > 0 && (
        <div class="actions">
          <Button kind="quiet" onClick={() => setArchived(!archived)}>
            {archived ? "Hide what is archived" : `Show what is archived (${hidden})`}
          </Button>
        </div>
      )}
      {adding && <NewStudy onClose={() => setAdding(false)} />}
    </>
  );
}

function Study({ study }: { study: StudySummary }) {
  return (
    <>
      <h2>
        <Link to={{ page: "study", study: study.name }}>{study.name}</Link>
        {study.archived && <span class="tag">archived</span>}
      </h2>
      {study.title && <p>{study.title}</p>}
      <p class="soft small">
        Version {study.version}, saved {ago(study.saved_at)} by {study.saved_by}
        {study.mistakes > 0 && (
          <>
            {" · "}
            <span class="complaint">{study.mistakes} to fix</span>
          </>
        )}
      </p>
      {study.runs.length > 0 && (
        <ul class="study-runs small">
          {study.runs.map((run) => (
            <li key={run.run}>
              <Link to={{ page: "run", run: run.run }}>{run.run}</Link> <Status status={run.status} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

const BEGINNINGS = [
  { from: "blank", name: "A blank study with the published instrument" },
  { from: "demo", name: "The demo study, with its builtin bots" },
  { from: "file", name: "A YAML file" },
] as const;

function NewStudy({ onClose }: { onClose: () => void }) {
  const { token, renew } = useContext(ResearcherContext);
  const go = useContext(GoContext);
  const id = useId();
  const [name, setName] = useState("");
  const [from, setFrom] = useState<(typeof BEGINNINGS)[number]["from"]>("blank");
  const [yaml, setYaml] = useState("");
  const [failure, setFailure] = useState("");
  const take = async (file: File | undefined) => {
    const text = (await file?.text()) ?? "";
    setYaml(text);
    setName((before) => before || (/^name:\s*([a-z][a-z0-9_]*)/m.exec(text)?.[1] ?? ""));
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    const content = from === "file" ? { yaml } : { begin_with: from };
    try {
      const made = (await send(
        "POST",
        "/api/desk/studies",
        { name: name.trim(), ...content },
        token,
      )) as StudyDetail;
      await renew();
      go({ page: "study", study: made.name });
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Dialog title="New study" onClose={onClose}>
      <form class="study-fields" onSubmit={(event) => void submit(event)}>
        <fieldset class="cards">
          <legend class="label">Begin with</legend>
          {BEGINNINGS.map(({ from: each, name: label }) => (
            <label key={each} class="tick">
              <input
                type="radio"
                name={`${id}-from`}
                checked={from === each}
                onChange={() => setFrom(each)}
              />
              <span>{label}</span>
            </label>
          ))}
        </fieldset>
        {from === "file" && (
          <div class="field">
            <label class="label" for={`${id}-file`}>
              File
            </label>
            <input
              id={`${id}-file`}
              type="file"
              accept=".yaml,.yml,text/yaml"
              onChange={(event) => void take(event.currentTarget.files?.[0])}
            />
          </div>
        )}
        <TextField
          label="Name"
          hint="Small letters, digits and _, the first one a letter. Workers never see it."
          value={name}
          onValue={setName}
          complaint={failure}
        />
        <div class="actions">
          <Button kind="secondary" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit">Make the study</Button>
        </div>
      </form>
    </Dialog>
  );
}

import { FlaskConical } from "lucide";
import { useContext, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Empty } from "../../design/Empty";
import { AccountContext, may } from "../account";
import type { StudyList, StudySummary } from "../api_types";
import { ago } from "../format";
import { Link } from "../Link";
import { LoadStatus } from "../LoadStatus";
import { newestOf, usePushed } from "../pushed";
import { Status } from "../Status";
import { Checklist } from "./Checklist";
import { NewStudy } from "./NewStudy";
import "./studies.css";

/** Every study; those that are archived only where they are asked for. */
export function StudiesView() {
  const { data, failure } = usePushed("/api/desk/watch/studies", {}, newestOf<StudyList>);
  const [adding, setAdding] = useState(false);
  const [archived, setArchived] = useState(false);
  const mayAdd = may(useContext(AccountContext), "change_studies");
  const hidden = data?.studies.filter((study) => study.archived).length ?? 0;
  return (
    <>
      <div class="run-head">
        <h1>Studies</h1>
        {mayAdd && <Button onClick={() => setAdding(true)}>New study</Button>}
      </div>
      <LoadStatus failure={failure} empty={data === null} />
      {data?.studies.length === 0 && (
        <Empty icon={FlaskConical} title="There is no study yet.">
          <p>A study says whom workers talk to, what they rate, and what they read.</p>
          {mayAdd && <Button onClick={() => setAdding(true)}>Make the first one</Button>}
        </Empty>
      )}
      {data && data.studies.length > 0 && mayAdd && (
        <Checklist studies={data.studies} onNew={() => setAdding(true)} />
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

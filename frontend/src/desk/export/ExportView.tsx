import { Time } from "../../design/Time";
import { atServer } from "../../shared/site";
import type { ExportJob, ExportList } from "../api_types";
import { moment } from "../format";
import { JobProgress, JobStatus } from "../jobs/JobProgress";
import { sizeOf } from "../jobs/numbers";
import { LoadStatus } from "../LoadStatus";
import { newestOf, usePushed } from "../pushed";
import { ExportForm } from "./ExportForm";
import { FORMATS } from "./formats";

/** The exports of a run: one is made, and those that are there can be downloaded. */
export function ExportView({ run }: { run: string }) {
  const { data, failure } = usePushed("/api/desk/watch/runs/{run}/exports", { run }, newestOf<ExportList>);
  const exports = data?.exports ?? [];
  const underWay = exports.find(({ status }) => status === "running");
  const newest = exports[0];
  return (
    <section aria-labelledby="export">
      <div class="section-head">
        <h2 id="export">Exports</h2>
      </div>
      <LoadStatus failure={failure} empty={data === null} />
      {data && (
        <>
          {underWay ? <JobProgress job={underWay} what="The export" /> : <ExportForm run={run} />}
          {newest?.status === "failed" && (
            <p class="failure" role="alert">
              The last export failed: {newest.error}
            </p>
          )}
          {exports.length > 0 && <Made exports={exports} keptDays={data.kept_days} />}
        </>
      )}
    </section>
  );
}

function Made({ exports, keptDays }: { exports: ExportJob[]; keptDays: number }) {
  return (
    <div class="made">
      <h3>Files</h3>
      <p class="soft small">
        Files are kept for {keptDays} days, or until a worker’s data are removed from this run. You can resume
        an interrupted download.
      </p>
      <ul class="job-list">
        {exports.map((one) => (
          <li key={one.job}>
            <div>
              {one.files.length > 0 ? (
                one.files.map((file) => (
                  <a key={file.name} href={atServer(file.path)} download={file.name}>
                    {file.name} ({sizeOf(file.bytes)})
                  </a>
                ))
              ) : (
                <span>{FORMATS[one.options.format].name}</span>
              )}
              <span class="soft small block">
                <Time at={moment(one.created_at)} />
              </span>
              {one.error && <span class="small block">{one.error}</span>}
            </div>
            <JobStatus job={one} />
          </li>
        ))}
      </ul>
    </div>
  );
}

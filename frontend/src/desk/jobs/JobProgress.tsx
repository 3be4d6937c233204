import { Badge, type BadgeKind } from "../../design/Badge";
import { Bar } from "../../design/Bar";
import { Button } from "../../design/Button";
import { apiAddress } from "../api";
import type { ExportJob, RehearsalJob, ReportJob } from "../api_types";
import { useRequest } from "./useRequest";

type Job = ReportJob | RehearsalJob | ExportJob;

/** How far something is that the server does in the background, and a way to give it up. */
export function JobProgress({ job, what }: { job: Job; what: string }) {
  const { busy, failure, post } = useRequest();
  const share = job.total === 0 ? 0 : (100 * job.done) / job.total;
  const cancel = apiAddress("/api/desk/runs/{run}/jobs/{job}/cancel", { run: job.run, job: job.job });
  return (
    <div class="box job">
      <div class="job-head">
        <h2>{what} is in progress</h2>
        <Button kind="secondary" busy={busy} onClick={() => void post(cancel)}>
          Cancel
        </Button>
      </div>
      <Bar label={what} parts={[{ share, kind: "rated" }]} />
      <p class="small">
        {job.step}
        {job.total > 0 && (
          <span class="soft">
            {" "}
            · {job.done} of {job.total}
          </span>
        )}
      </p>
      {failure && <p class="failure">{failure}</p>}
    </div>
  );
}

const SAID: Record<Job["status"], [kind: BadgeKind, words: string]> = {
  running: ["busy", "in progress"],
  done: ["good", "done"],
  failed: ["failed", "failed"],
  cancelled: ["plain", "cancelled"],
};

/** How a job has ended, as a small label. */
export function JobStatus({ job }: { job: Job }) {
  const [kind, words] = SAID[job.status];
  return <Badge kind={kind}>{words}</Badge>;
}

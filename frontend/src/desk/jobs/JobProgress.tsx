import { Button } from "../../design/Button";
import { apiAddress } from "../api";
import type { ExportJob, RehearsalJob, ReportJob } from "../api_types";
import { useRequest } from "./useRequest";

type Job = ReportJob | RehearsalJob | ExportJob;

/** How far something is that the server does in the background, and a way to give it up. */
export function JobProgress({ job, what }: { job: Job; what: string }) {
  const { busy, failure, post } = useRequest();
  const share = job.total === 0 ? 0 : Math.round((100 * job.done) / job.total);
  const cancel = apiAddress("/api/desk/runs/{run}/jobs/{job}/cancel", { run: job.run, job: job.job });
  return (
    <div class="box job">
      <div class="job-head">
        <h2>{what} is under way</h2>
        <Button kind="quiet" off={busy} onClick={() => void post(cancel)}>
          Cancel
        </Button>
      </div>
      <div
        class="progress"
        role="progressbar"
        aria-label={what}
        aria-valuenow={share}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <div class="progress-done job-done" style={{ width: `${share}%` }} />
      </div>
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

const SAID: Record<Job["status"], string> = {
  running: "under way",
  done: "done",
  failed: "failed",
  cancelled: "cancelled",
};

/** How a job has ended, as a small label. */
export function JobStatus({ job }: { job: Job }) {
  const kind = { running: "busy", done: "good", failed: "held", cancelled: "plain" }[job.status];
  return <span class={`status status-${kind}`}>{SAID[job.status]}</span>;
}

import { useState } from "preact/hooks";
import { atServer } from "../../shared/site";
import type { ReportJob, ReportList } from "../api_types";
import { when } from "../format";
import { JobProgress, JobStatus } from "../jobs/JobProgress";
import { sizeOf } from "../jobs/numbers";
import { LoadStatus } from "../LoadStatus";
import { newestOf, usePushed } from "../pushed";
import { ReportForm } from "./ReportForm";

/** The reports on a run: one is made, the newest is read here, earlier ones can be opened again. */
export function ReportView({ run }: { run: string }) {
  const { data, failure } = usePushed("/api/desk/watch/runs/{run}/reports", { run }, newestOf<ReportList>);
  const [chosen, setChosen] = useState<string | null>(null);
  const reports = data?.reports ?? [];
  const underWay = reports.find(({ status }) => status === "running");
  const done = reports.filter(({ status }) => status === "done");
  const shown = done.find(({ job }) => job === chosen) ?? done[0];
  const newest = reports[0];
  return (
    <>
      <h1>Report</h1>
      <LoadStatus failure={failure} empty={data === null} />
      {data && (
        <>
          {underWay ? (
            <JobProgress job={underWay} what="The report" />
          ) : (
            <ReportForm run={run} first={reports.length === 0} />
          )}
          {newest?.status === "failed" && (
            <p class="failure" role="alert">
              The last report was not made: {newest.error}
            </p>
          )}
          {shown && <Shown report={shown} key={shown.job} />}
          {reports.length > 0 && <Earlier reports={reports} shown={shown?.job ?? null} onShow={setChosen} />}
        </>
      )}
    </>
  );
}

/** A report as a page within the page, and its files. */
function Shown({ report }: { report: ReportJob }) {
  const pathOf = (name: string) => report.files.find((file) => file.name === name);
  // The links are signed anew whenever they are asked for; the page must not load anew for that.
  const [page] = useState(pathOf("report.html"));
  const main = [pathOf("report.xlsx"), pathOf("report.zip")].filter((file) => file !== undefined);
  const tables = report.files.filter(({ name }) => name.endsWith(".csv"));
  return (
    <section aria-labelledby="shown">
      <div class="section-head">
        <h2 id="shown">Made {when(report.created_at)}</h2>
        <ul class="downloads">
          {main.map((file) => (
            <li key={file.name}>
              <a href={atServer(file.path)} download={file.name}>
                {file.name === "report.zip" ? "Everything" : "Workbook"} ({file.name.split(".")[1]},{" "}
                {sizeOf(file.bytes)})
              </a>
            </li>
          ))}
          {page && (
            <li>
              <a href={atServer(page.path)} target="_blank" rel="noreferrer">
                Open in a tab of its own
              </a>
            </li>
          )}
        </ul>
      </div>
      {page && <iframe class="report-frame" title="The report" src={page.path} sandbox="" />}
      <p class="signature small soft">
        Signature <code>{report.signature}</code>
      </p>
      {tables.length > 0 && (
        <details>
          <summary>Tables (csv)</summary>
          <ul class="downloads downloads-tables">
            {tables.map((file) => (
              <li key={file.name}>
                <a href={atServer(file.path)} download={file.name}>
                  {file.name}
                </a>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

interface EarlierProps {
  reports: ReportJob[];
  shown: string | null;
  onShow: (job: string) => void;
}

function Earlier({ reports, shown, onShow }: EarlierProps) {
  return (
    <section aria-labelledby="earlier">
      <h2 id="earlier">All reports on this run</h2>
      <ul class="job-list">
        {reports.map((report) => (
          <li key={report.job}>
            <div>
              {report.status === "done" ? (
                <button
                  type="button"
                  class="link-button"
                  aria-pressed={report.job === shown}
                  onClick={() => onShow(report.job)}
                >
                  {when(report.created_at)}
                </button>
              ) : (
                when(report.created_at)
              )}
              <span class="soft small block">{askedFor(report)}</span>
              {report.signature && <code class="signature small soft block">{report.signature}</code>}
              {report.error && <span class="small block">{report.error}</span>}
            </div>
            <JobStatus job={report} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What a report was asked for, in words. */
function askedFor({ options }: ReportJob): string {
  const parts = [
    `α ${options.alpha}`,
    options.workers === "simulated" ? "simulated workers" : "",
    options.replicate ? `with ${options.replicate}` : "",
    typeof options.reward === "number" ? `pay ${options.reward}` : "",
    options.include_partial ? "unfinished assignments too" : "",
  ];
  return parts.filter(Boolean).join(" · ");
}

import { ChartLine } from "lucide";
import { useContext, useEffect, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { Empty } from "../../design/Empty";
import { Segmented } from "../../design/Segmented";
import { Time } from "../../design/Time";
import { atServer } from "../../shared/site";
import type { ReportJob, ReportList } from "../api_types";
import { moment, when } from "../format";
import { JobProgress } from "../jobs/JobProgress";
import { sizeOf } from "../jobs/numbers";
import { Link } from "../Link";
import { LoadStatus } from "../LoadStatus";
import { newestOf, usePushed } from "../pushed";
import { GoContext } from "../route";
import { ReportForm } from "./ReportForm";

/** The reports on a run: the newest is read here, earlier ones can be opened again, and a new one is made. `started`: whether
 * a worker has come. */
export function ReportView({ run, started }: { run: string; started: boolean }) {
  const { data, failure } = usePushed("/api/desk/watch/runs/{run}/reports", { run }, newestOf<ReportList>);
  const [chosen, setChosen] = useState<string | null>(null);
  const [asking, setAsking] = useState(false);
  const reports = data?.reports ?? [];
  const underWay = reports.find(({ status }) => status === "running");
  const done = reports.filter(({ status }) => status === "done");
  const shown = done.find(({ job }) => job === chosen) ?? done[0];
  const newest = reports[0];
  const isUnderWay = underWay !== undefined;
  useEffect(() => setAsking(false), [isUnderWay]);
  return (
    <>
      {!shown && <ReportOrRehearsal run={run} now="report" />}
      <LoadStatus failure={failure} empty={data === null} />
      {underWay && <JobProgress job={underWay} what="The report" />}
      {newest?.status === "failed" && (
        <p class="failure" role="alert">
          The last report failed: {newest.error}
        </p>
      )}
      {data &&
        !shown &&
        !underWay &&
        (started ? (
          <ReportForm run={run} first={reports.length === 0} />
        ) : (
          <Empty icon={ChartLine} title="No report yet.">
            <p>
              A report needs workers who have submitted. The <Link to={{ page: "run", run }}>overview</Link>{" "}
              says how to bring them in.
            </p>
          </Empty>
        ))}
      {shown && (
        <section class="report" aria-label="Report">
          <div class="report-head">
            <ReportOrRehearsal run={run} now="report" />
            <Chosen done={done} shown={shown} onShow={setChosen} />
            <Downloads report={shown} />
            {!underWay && (
              <Button kind="secondary" onClick={() => setAsking(true)}>
                New report
              </Button>
            )}
          </div>
          <Page report={shown} key={shown.job} />
        </section>
      )}
      {asking && (
        <Dialog title="New report" onClose={() => setAsking(false)}>
          <ReportForm run={run} first={false} onCancel={() => setAsking(false)} />
        </Dialog>
      )}
    </>
  );
}

/** What came of the run, or what a rehearsal of its study foretells: both belong to the report's tab. */
export function ReportOrRehearsal({ run, now }: { run: string; now: "report" | "rehearsal" }) {
  const go = useContext(GoContext);
  return (
    <Segmented
      label="Results or a rehearsal"
      choices={[
        { value: "report", name: "Results" },
        { value: "rehearsal", name: "Rehearsal" },
      ]}
      value={now}
      onChange={(page) => go({ page, run })}
    />
  );
}

interface ChosenProps {
  done: ReportJob[];
  shown: ReportJob;
  onShow: (job: string) => void;
}

/** Which report is read, and what it was asked for. */
function Chosen({ done, shown, onShow }: ChosenProps) {
  return (
    <div class="report-chosen">
      {done.length === 1 ? (
        <p class="small">
          Made <Time at={moment(shown.created_at)} />
        </p>
      ) : (
        <label class="small">
          <span class="unseen">Report made</span>
          <select class="input" value={shown.job} onChange={(event) => onShow(event.currentTarget.value)}>
            {done.map((each) => (
              <option key={each.job} value={each.job}>
                {when(each.created_at)}
              </option>
            ))}
          </select>
        </label>
      )}
      <p class="soft small">{askedFor(shown)}</p>
    </div>
  );
}

const WHOLE: [name: string, says: string][] = [
  ["report.xlsx", "Workbook"],
  ["paper.zip", "Paper kit"],
  ["report.zip", "Everything"],
];

/** The files of a report: whole ones first, then its tables and its signature. */
function Downloads({ report }: { report: ReportJob }) {
  const pathOf = (name: string) => report.files.find((file) => file.name === name);
  const page = pathOf("report.html");
  const tables = report.files.filter(({ name }) => name.endsWith(".csv"));
  return (
    <ul class="downloads">
      {WHOLE.map(([name, says]) => {
        const file = pathOf(name);
        return (
          file && (
            <li key={name} title={name === "paper.zip" ? "LaTeX tables, figures as PDF, a datasheet" : name}>
              <a href={atServer(file.path)} download={name}>
                {says}
              </a>{" "}
              <span class="soft">{sizeOf(file.bytes)}</span>
            </li>
          )
        );
      })}
      {page && (
        <li>
          <a href={atServer(page.path)} target="_blank" rel="noreferrer">
            Open in a new tab
          </a>
        </li>
      )}
      <li>
        <details class="report-more">
          <summary>Tables and signature</summary>
          <div class="report-more-box">
            {report.signature && (
              <p class="signature small soft">
                <code>{report.signature}</code>
              </p>
            )}
            <ul class="downloads">
              {tables.map((file) => (
                <li key={file.name}>
                  <a href={atServer(file.path)} download={file.name}>
                    {file.name}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        </details>
      </li>
    </ul>
  );
}

/** A report as a page within the page, which it fills. */
function Page({ report }: { report: ReportJob }) {
  // The links are signed anew whenever they are asked for; the page must not load anew for that.
  const [page] = useState(report.files.find(({ name }) => name === "report.html"));
  return page ? <iframe class="report-frame" title="The report" src={page.path} sandbox="" /> : null;
}

/** What a report was asked for, in words. */
function askedFor({ options }: ReportJob): string {
  const parts = [
    `α ${options.alpha}`,
    options.workers === "simulated" ? "simulated workers" : "",
    options.replicate ? `with ${options.replicate}` : "",
    typeof options.reward === "number" ? `pay ${options.reward}` : "",
    options.include_partial ? "with incomplete assignments" : "",
  ];
  return parts.filter(Boolean).join(" · ");
}

import { apiAddress } from "../api";
import type { MessageReportRow } from "../api_types";
import { when } from "../format";
import { SeenMark } from "./SeenMark";

const REASONS: Record<MessageReportRow["reason"], string> = {
  offensive: "offensive or hateful",
  sexual: "sexual",
  harm: "about harming oneself or others",
  personal: "asks for personal details",
  other: "something else",
};

interface Props {
  assignment: string;
  reports: MessageReportRow[];
  /** The number of the line. */
  line: number;
}

/** What the worker has reported of a line; nothing where they have not. */
export function Reports({ assignment, reports, line }: Props) {
  return reports
    .filter(({ turn_index }) => turn_index === line)
    .map((report) => <Report key={report.id} assignment={assignment} report={report} />);
}

function Report({ assignment, report }: { assignment: string; report: MessageReportRow }) {
  const address = apiAddress("/api/desk/assignments/{assignment}/message-reports/{report}/seen", {
    assignment,
    report: String(report.id),
  });
  const stands = report.taken_back_at === null;
  return (
    <div class={stands ? "reported" : "reported reported-back"}>
      <p>
        <strong>Reported: {REASONS[report.reason]}</strong>
        <span class="soft small">
          {` · ${when(report.created_at)}`}
          {report.leaves && " · left the study with it, with full pay"}
          {!stands && " · taken back"}
        </span>
      </p>
      {report.note && <p class="said">{report.note}</p>}
      {stands && <SeenMark address={address} seenAt={report.seen_at} seenBy={report.seen_by} />}
    </div>
  );
}

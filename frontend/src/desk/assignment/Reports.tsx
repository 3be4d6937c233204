import { useContext, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { AccountContext, may } from "../account";
import { apiAddress } from "../api";
import type { MessageReportRow } from "../api_types";
import { when } from "../format";
import { useRequest } from "../jobs/useRequest";

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
  const account = useContext(AccountContext);
  const { busy, failure, post } = useRequest();
  const [marked, setMarked] = useState(false);
  const address = apiAddress("/api/desk/assignments/{assignment}/message-reports/{report}/seen", {
    assignment,
    report: String(report.id),
  });
  const stands = report.taken_back_at === null;
  const seen = marked || report.seen_at !== null;
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
      {stands && (
        <p class="soft small" role="status">
          {seen && (report.seen_by ? `Seen by ${report.seen_by}, ${when(report.seen_at)}` : "Seen by you")}
        </p>
      )}
      {stands && !seen && may(account, "act_on_workers") && (
        <Button kind="quiet" off={busy} onClick={() => void post(address).then(setMarked)}>
          Mark as seen
        </Button>
      )}
      <p class="complaint" role="alert">
        {failure}
      </p>
    </div>
  );
}

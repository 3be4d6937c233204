import { Badge, type BadgeKind } from "../../design/Badge";
import { Bar } from "../../design/Bar";
import type { CheckView } from "../api_types";
import { ago } from "../format";
import { Findings } from "./Findings";

type Verdict = NonNullable<CheckView["report"]>["verdict"];

const VERDICTS: Record<Verdict, { kind: BadgeKind; name: string; next: string }> = {
  pass: { kind: "good", name: "Fit for workers", next: "" },
  warn: {
    kind: "held",
    name: "Fit, with warnings",
    next: "Read the warnings. You can open a run with this bot.",
  },
  fail: {
    kind: "failed",
    name: "Not fit for workers",
    next: "Fix what failed, then check the bot again. A run with this bot opens only if you insist.",
  },
};

/** A check under way or over: its progress or its verdict, and the next step. */
export function CheckResult({ check, bot }: { check: CheckView | null; bot: string }) {
  if (check === null) {
    return <Badge>Not checked yet</Badge>;
  }
  if (check.state === "running") {
    return (
      <div class="bot-progress">
        <span class="small soft" role="status">
          {`Checking: ${check.done} of ${check.total || "…"} calls`}
        </span>
        <Bar
          label={`Check of ${bot}`}
          parts={[{ share: check.total ? (100 * check.done) / check.total : 0, kind: "rated" }]}
        />
      </div>
    );
  }
  if (check.report === null) {
    return <span class="complaint">{`The check failed: ${check.error}`}</span>;
  }
  const { kind, name } = VERDICTS[check.report.verdict];
  return (
    <span class="bot-verdict small" role="status">
      <Badge kind={kind}>{name}</Badge> <span class="soft">checked {ago(check.at)}</span>
    </span>
  );
}

/** The lines of a finished check, and what to do about them. */
export function CheckLines({ check }: { check: CheckView | null }) {
  if (check === null || check.report === null) {
    return null;
  }
  const { next } = VERDICTS[check.report.verdict];
  return (
    <>
      {next && <p class="small">{next}</p>}
      <Findings findings={check.report.findings} />
    </>
  );
}

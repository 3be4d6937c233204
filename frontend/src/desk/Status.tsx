import type { ComponentChildren } from "preact";
import { Badge, type BadgeKind } from "../design/Badge";
import type { AssignmentRow, ConversationDetail, RunSummary } from "./api_types";

export type StatusName = (RunSummary | AssignmentRow | ConversationDetail)["status"];

const KINDS: Record<StatusName, BadgeKind> = {
  open: "good",
  completed: "good",
  rated: "good",
  active: "busy",
  ended: "busy",
  paused: "held",
  returned: "plain",
  expired: "plain",
  failed: "failed",
  closed: "plain",
  skipped: "plain",
  unrated: "plain",
  planned: "plain",
};

/** A state as a small label. */
export function Status({ status }: { status: StatusName }) {
  return <Badge kind={KINDS[status]}>{status}</Badge>;
}

/** What something is called, and how it stands. */
export function StatusHead({ status, children }: { status: StatusName; children: ComponentChildren }) {
  return (
    <div class="run-head">
      <div>{children}</div>
      <Status status={status} />
    </div>
  );
}

const KINDS: Record<string, string> = {
  open: "good",
  completed: "good",
  rated: "good",
  active: "busy",
  ended: "busy",
  returned: "poor",
  expired: "poor",
  failed: "poor",
  closed: "poor",
  skipped: "poor",
};

/** A state as a small label. */
export function Status({ status }: { status: string }) {
  return <span class={`status status-${KINDS[status] ?? "plain"}`}>{status}</span>;
}

import type { ComponentChildren } from "preact";

export type BadgeKind = "plain" | "good" | "busy" | "held" | "failed";

/** A state as a small label: its dot says the kind, its words the state. */
export function Badge({ kind = "plain", children }: { kind?: BadgeKind; children: ComponentChildren }) {
  return <span class={`badge badge-${kind}`}>{children}</span>;
}

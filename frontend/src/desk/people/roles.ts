import type { StudyRole } from "../api_types";

/** A role, or what else can be chosen in its place, and what its holder may do. */
export type Choice = readonly [value: string, label: string];

export const ROLES: readonly Choice[] = [
  ["viewer", "viewer: sees how far runs are"],
  ["analyst", "analyst: reads transcripts, scores and reports"],
  ["researcher", "researcher: changes studies and runs, sees workers’ ids"],
  ["owner", "owner: everything, people too"],
];

/** What a token can be for. */
export const SCOPES: readonly Choice[] = [
  ...ROLES.slice(0, 3),
  ["host", "host: a bot host that dials in, no more"],
];

export function inWords({ role, study }: StudyRole): string {
  return `${role} of ${study ?? "all studies"}`;
}

import type { StudyRole } from "../api_types";

/** Something that can be given: its value, its name, and what its holder may do. */
export interface RoleChoice {
  value: string;
  name: string;
  about: string;
}

export const ROLES: readonly RoleChoice[] = [
  { value: "viewer", name: "Viewer", about: "Sees how runs are going." },
  { value: "analyst", name: "Analyst", about: "Also reads transcripts, scores and reports." },
  { value: "researcher", name: "Researcher", about: "Also changes studies and runs, and sees worker ids." },
  { value: "owner", name: "Owner", about: "Also invites people." },
];

/** What a token can be for. */
export const SCOPES: readonly RoleChoice[] = [
  ...ROLES.slice(0, 3),
  { value: "host", name: "Bot host", about: "Connects a bot host to this server, nothing else." },
];

/** A role and its study, in words. */
export function inWords({ role, study }: StudyRole): string {
  return `${nameOf(role)}, ${study ?? "all studies"}`;
}

/** The name of a role, or of what a token is for. */
export function nameOf(value: string): string {
  return SCOPES.find((choice) => choice.value === value)?.name ?? "Owner";
}

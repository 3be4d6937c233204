import type { Permission } from "./account";

export type Place = "runs" | "studies" | "people" | "audit";

const PLACES: { name: string; page: Place; for: Permission }[] = [
  { name: "Runs", page: "runs", for: "see_runs" },
  { name: "Studies", page: "studies", for: "see_studies" },
  { name: "People", page: "people", for: "manage_people" },
  { name: "Audit log", page: "audit", for: "read_audit_log" },
];

/** The desk's places that are open to somebody. */
export function placesFor(holds: (permission: Permission) => boolean): { name: string; page: Place }[] {
  return PLACES.filter((place) => holds(place.for));
}

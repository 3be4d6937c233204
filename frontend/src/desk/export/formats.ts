import type { ExportJob } from "../api_types";

export type Format = ExportJob["options"]["format"];

/** The forms in which a run is exported: what each is called, and what is in it. */
export const FORMATS: Record<Format, { name: string; about: string }> = {
  hits_data: {
    name: "Published form (hits_data)",
    about:
      "Submitted assignments, in the format of the published experiment. JSON Lines for items and comparisons.",
  },
  jsonl: {
    name: "JSON Lines",
    about: "Everything: each message, rating, time and incident of each assignment, one per line.",
  },
  parquet: { name: "Parquet", about: "The same as JSON Lines, as tables for programs." },
  csv: { name: "CSV", about: "The same as JSON Lines, as tables for a spreadsheet." },
  bundle: {
    name: "Bundle",
    about:
      "Everything with the study, a report and its signature, so that others can verify it. Includes the " +
      "addresses of bots, but no completion codes. Takes longest.",
  },
};

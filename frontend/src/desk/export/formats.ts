import type { ExportJob } from "../api_types";

export type Format = ExportJob["options"]["format"];

/** The forms in which a run is exported: what each is called, and what is in it. */
export const FORMATS: Record<Format, { name: string; about: string }> = {
  hits_data: {
    name: "Published form (hits_data)",
    about: "What was submitted, as the published experiment has it; of items and comparisons, JSON Lines.",
  },
  jsonl: {
    name: "JSON Lines",
    about: "Everything: every message, rating, time and incident of every assignment, a row a line.",
  },
  parquet: { name: "Parquet", about: "The same, as tables for programs." },
  csv: { name: "CSV", about: "The same, as tables for a spreadsheet." },
  bundle: {
    name: "Bundle",
    about:
      "Everything with the study, a report and its signature, for others to verify. Codes that pay are left " +
      "out; addresses of bots are not. Takes longest.",
  },
};

/** The report of a run. */
export function ReportView({ run }: { run: string }) {
  return <h1>Report of {run}</h1>;
}

/** The rehearsal of a run. */
export function RehearsalView({ run }: { run: string }) {
  return <h1>Rehearsal of {run}</h1>;
}

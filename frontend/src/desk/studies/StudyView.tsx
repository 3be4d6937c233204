/** One study: its settings, and the file that they are stored as. */
export function StudyView({ study }: { study: string }) {
  return <h1>{study}</h1>;
}

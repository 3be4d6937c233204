/** Every study. */
export function StudiesView() {
  return <h1>Studies</h1>;
}

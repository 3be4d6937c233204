/** Who may use the desk, and their tokens. */
export function PeopleView() {
  return <h1>People</h1>;
}

import type { ComponentChildren } from "preact";
import { Table } from "../../design/Table";

export interface Person {
  name: string;
  has_password: boolean;
}

interface Props<P extends Person> {
  label: string;
  people: P[];
  roles: (person: P) => string;
  /** What can be done about somebody. */
  children: (person: P) => ComponentChildren;
}

const COLUMNS = ["Name", "Roles", "Password", "Actions"].map((name) => ({ name }));

/** People, what they may do, and whether they have chosen a password by the link that they were given. */
export function PeopleTable<P extends Person>({ label, people, roles, children }: Props<P>) {
  return (
    <Table cards label={label} columns={COLUMNS}>
      {people.map((person) => (
        <tr key={person.name}>
          <th scope="row">{person.name}</th>
          <td data-name="Roles" class="wrap">
            {roles(person)}
          </td>
          <td data-name="Password">{person.has_password ? "chosen" : "not yet"}</td>
          <td>{children(person)}</td>
        </tr>
      ))}
    </Table>
  );
}

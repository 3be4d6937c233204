import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { LoadStatus } from "../LoadStatus";
import { usePolled } from "../polled";
import { Table } from "../Table";
import { Confirmed, ROLES, useAction } from "./PeopleView";

/** Who may use one study, for its owners: they invite to it, and take their own people's roles away again. */
export function StudyPeople({ study }: { study: string }) {
  const { data, failure } = usePolled("/api/desk/studies/{study}/people", { study });
  const { act, shown } = useAction();
  const [name, setName] = useState("");
  const [role, setRole] = useState("viewer");
  const address = `/api/desk/studies/${encodeURIComponent(study)}/people`;
  const submit = async (event: Event) => {
    event.preventDefault();
    if (await act("POST", address, { name: name.trim(), role })) {
      setName("");
    }
  };
  return (
    <section aria-label="People of this study">
      <LoadStatus failure={failure} empty={data === null} />
      {data && data.people.length > 0 && (
        <Table
          cards
          label="People of this study"
          columns={[{ name: "Name" }, { name: "Role" }, { name: "Actions" }]}
        >
          {data.people.map((person) => (
            <tr key={person.name}>
              <th scope="row">{person.name}</th>
              <td data-name="Role">{person.role ?? `${person.of_all} of all studies`}</td>
              <td>
                {person.role && (
                  <Confirmed
                    what="Take away"
                    whom={person.name}
                    onConfirm={() => void act("DELETE", `${address}/${encodeURIComponent(person.name)}`)}
                  />
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {shown}
      <form class="box grant" aria-label="Invite to this study" onSubmit={(event) => void submit(event)}>
        <h3>Invite to this study, or change a role</h3>
        <div class="field">
          <label class="label" for="study-person">
            Name or e-mail address
          </label>
          <input
            id="study-person"
            class="input"
            required
            autocomplete="off"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </div>
        <div class="field">
          <label class="label" for="study-role">
            Role
          </label>
          <select
            id="study-role"
            class="input"
            value={role}
            onChange={(event) => setRole(event.currentTarget.value)}
          >
            {ROLES.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        </div>
        <div class="actions">
          <Button type="submit">Save</Button>
        </div>
      </form>
    </section>
  );
}

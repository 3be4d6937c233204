import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { inFull } from "../../design/dates";
import { Menu, type MenuItem } from "../../design/Menu";
import { Table } from "../../design/Table";
import { moment } from "../format";
import type { Act } from "./action";

export interface Person {
  name: string;
  has_password: boolean;
  /** When their link for choosing a password expires; null where they have none. */
  link_expires_at: string | null;
}

/** What can be done about somebody. What takes something away is asked first: `about` says what comes of it. */
export interface PersonAction {
  name: string;
  about?: string;
  act: () => void;
}

interface Props<P extends Person> {
  label: string;
  people: P[];
  roles: (person: P) => string;
  actions: (person: P) => PersonAction[];
}

const COLUMNS = ["Name", "Roles", "Sign-in", "Actions"].map((name) => ({ name }));

/** People, what they may do, and whether they have chosen a password by the link that they were given. */
export function PeopleTable<P extends Person>({ label, people, roles, actions }: Props<P>) {
  return (
    <Table cards label={label} columns={COLUMNS}>
      {people.map((person) => (
        <tr key={person.name}>
          <th scope="row">{person.name}</th>
          <td data-name="Roles" class="wrap">
            {roles(person)}
          </td>
          <td data-name="Sign-in" class="wrap">
            {signInOf(person, new Date())}
          </td>
          <td data-name="Actions">
            <PersonMenu whom={person.name} actions={actions(person)} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** The actions about somebody or something, in a menu, with a question before each that takes something away. */
export function PersonMenu({ whom, actions }: { whom: string; actions: PersonAction[] }) {
  const [asked, setAsked] = useState<PersonAction | null>(null);
  if (actions.length === 0) {
    return null;
  }
  const items: MenuItem[] = actions.map((action) => ({
    name: action.name,
    danger: action.about !== undefined,
    onChoose: () => (action.about === undefined ? action.act() : setAsked(action)),
  }));
  return (
    <>
      <Menu inRow label={`Actions for ${whom}`} items={items} />
      {asked && (
        <Dialog title={`${asked.name}: ${whom}`} onClose={() => setAsked(null)}>
          <p>{asked.about}</p>
          <div class="actions">
            <Button kind="secondary" onClick={() => setAsked(null)}>
              Cancel
            </Button>
            <Button
              kind="danger"
              onClick={() => {
                setAsked(null);
                asked.act();
              }}
            >
              {asked.name}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  );
}

/** A new link for somebody, by e-mail where that can be sent, and the end of the one that they have. */
export function linkActions(person: Person, at: string, mails: boolean, act: Act): PersonAction[] {
  const byMail = mails && person.name.includes("@");
  return [
    { name: "New link", act: () => void act("POST", `${at}/link`) },
    ...(byMail
      ? [{ name: "Send new link by e-mail", act: () => void act("POST", `${at}/link`, { by_mail: true }) }]
      : []),
    ...(person.link_expires_at === null
      ? []
      : [
          {
            name: "Revoke link",
            about: "The link no longer works. The account and its password stay.",
            act: () => void act("DELETE", `${at}/link`),
          },
        ]),
  ];
}

/** Whether somebody can sign in, and until when their link is valid, in words. */
export function signInOf({ has_password, link_expires_at }: Person, now: Date): string {
  const until = link_expires_at === null ? null : moment(link_expires_at);
  const open = until !== null && until > now ? `link valid until ${inFull(until)}` : null;
  if (has_password) {
    return open === null ? "Has a password" : `Has a password; ${open}`;
  }
  if (open !== null) {
    return `Invited; ${open}`;
  }
  return until === null ? "Invited; no link" : "Invited; link expired";
}

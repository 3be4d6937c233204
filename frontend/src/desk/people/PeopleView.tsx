import { Table } from "../../design/Table";
import { Time } from "../../design/Time";
import type { PeopleUpdate, PersonRow, TokenRow } from "../api_types";
import { useFetched } from "../fetched";
import { moment } from "../format";
import { LoadStatus } from "../LoadStatus";
import { usePushed } from "../pushed";
import { useAction } from "./action";
import { Grant } from "./Grant";
import { linkActions, PeopleTable, PersonMenu } from "./PeopleTable";
import { inWords, nameOf, ROLES, SCOPES } from "./roles";

/** Who may use the desk, and their tokens. */
export function PeopleView() {
  const { data, failure } = usePushed("/api/desk/watch/people", {}, changedPeople);
  const { data: studies } = useFetched("/api/desk/studies", {}, "");
  const names = studies?.studies.map(({ name }) => name) ?? [];
  return (
    <>
      <h1>People</h1>
      <LoadStatus failure={failure} empty={data === null} />
      {data?.people && <People people={data.people} studies={names} />}
      {data?.tokens && <Tokens tokens={data.tokens} studies={names} />}
    </>
  );
}

function changedPeople(before: PeopleUpdate | null, change: PeopleUpdate): PeopleUpdate {
  return { ...before, ...change };
}

function People({ people, studies }: { people: PersonRow[]; studies: string[] }) {
  const { act, shown } = useAction();
  const mails = useFetched("/api/desk/invitation-mail", {}, "").data?.available ?? false;
  const at = (name: string) => `/api/desk/people/${encodeURIComponent(name)}`;
  return (
    <section aria-labelledby="who">
      <div class="section-head">
        <h2 id="who">Accounts</h2>
      </div>
      {people.length === 0 ? (
        <p class="soft">
          No accounts yet. Invite somebody below. Until then, everyone signs in with a token.
        </p>
      ) : (
        <PeopleTable
          label="Accounts"
          people={people}
          roles={(person) => person.roles.map(inWords).join("; ")}
          actions={(person) => [
            ...linkActions(person, at(person.name), mails, act),
            {
              name: "Remove account",
              about: "They are signed out everywhere and can no longer sign in. This cannot be undone.",
              act: () => void act("DELETE", at(person.name)),
            },
          ]}
        />
      )}
      {shown}
      <Grant
        title="Invite somebody, or change a role"
        label="Name or e-mail address"
        choices={ROLES}
        studies={studies}
        mails={mails}
        action="Save"
        onGrant={({ name, role, study, byMail }) =>
          people.some((person) => person.name === name.toLowerCase())
            ? act("PUT", `${at(name)}/role`, { role, study })
            : act("POST", "/api/desk/people", { name, role, study, by_mail: byMail })
        }
      />
    </section>
  );
}

const COLUMNS = ["Name", "Role", "Created", "Actions"].map((name) => ({ name }));

function Tokens({ tokens, studies }: { tokens: TokenRow[]; studies: string[] }) {
  const { act, shown } = useAction();
  const inUse = tokens.filter((token) => token.revoked_at === null);
  return (
    <section aria-labelledby="tokens">
      <div class="section-head">
        <h2 id="tokens">Tokens for programs</h2>
      </div>
      {inUse.length === 0 ? (
        <p class="soft">No other tokens.</p>
      ) : (
        <Table cards label="Tokens" columns={COLUMNS}>
          {inUse.map((token) => (
            <tr key={token.name}>
              <th scope="row">{token.name}</th>
              <td data-name="Role" class="wrap">
                {token.scope === "host" ? nameOf("host") : inWords({ role: token.scope, study: token.study })}
              </td>
              <td data-name="Created">
                <Time at={moment(token.created_at)} />
              </td>
              <td data-name="Actions">
                <PersonMenu
                  whom={token.name}
                  actions={[
                    {
                      name: "Revoke token",
                      about: "Programs that use this token lose access at once. This cannot be undone.",
                      act: () => void act("DELETE", `/api/desk/tokens/${encodeURIComponent(token.name)}`),
                    },
                  ]}
                />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {shown}
      <Grant
        title="Create a token"
        label="Purpose"
        choices={SCOPES}
        studies={studies}
        action="Create"
        onGrant={({ name, role: scope, study }) =>
          act("POST", "/api/desk/tokens", { name, scope, study: scope === "host" ? null : study })
        }
      />
    </section>
  );
}

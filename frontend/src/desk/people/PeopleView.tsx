import { Button } from "../../design/Button";
import { Table } from "../../design/Table";
import { Time } from "../../design/Time";
import type { PeopleUpdate, PersonRow, TokenRow } from "../api_types";
import { useFetched } from "../fetched";
import { moment } from "../format";
import { LoadStatus } from "../LoadStatus";
import { usePushed } from "../pushed";
import { Confirmed, useAction } from "./action";
import { Grant } from "./Grant";
import { PeopleTable } from "./PeopleTable";
import { inWords, ROLES, SCOPES } from "./roles";

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
  const at = (name: string) => `/api/desk/people/${encodeURIComponent(name)}`;
  return (
    <section aria-labelledby="who">
      <div class="section-head">
        <h2 id="who">Who signs in</h2>
      </div>
      {people.length === 0 ? (
        <p class="soft">Nobody yet: the desk is used with tokens only.</p>
      ) : (
        <PeopleTable
          label="Table of people"
          people={people}
          roles={(person) => person.roles.map(inWords).join(", ")}
        >
          {({ name }) => (
            <>
              <Button kind="quiet" onClick={() => void act("POST", `${at(name)}/link`)}>
                New link<span class="unseen"> for {name}</span>
              </Button>
              <Confirmed what="Remove" whom={name} onConfirm={() => void act("DELETE", at(name))} />
            </>
          )}
        </PeopleTable>
      )}
      {shown}
      <Grant
        title="Invite somebody, or change a role"
        label="Name or e-mail address"
        choices={ROLES}
        studies={studies}
        action="Save"
        onGrant={(name, role, study) =>
          people.some((person) => person.name === name.toLowerCase())
            ? act("PUT", `${at(name)}/role`, { role, study })
            : act("POST", "/api/desk/people", { name, role, study })
        }
      />
    </section>
  );
}

const COLUMNS = ["Name", "For", "Made", "Actions"].map((name) => ({ name }));

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
        <Table cards label="Table of tokens" columns={COLUMNS}>
          {inUse.map((token) => (
            <tr key={token.name}>
              <th scope="row">{token.name}</th>
              <td data-name="For">
                {token.scope === "host" ? "bot host" : inWords({ role: token.scope, study: token.study })}
              </td>
              <td data-name="Made">
                <Time at={moment(token.created_at)} />
              </td>
              <td>
                <Confirmed
                  what="Revoke"
                  whom={token.name}
                  onConfirm={() => void act("DELETE", `/api/desk/tokens/${encodeURIComponent(token.name)}`)}
                />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {shown}
      <Grant
        title="Make a token"
        label="What it is for"
        choices={SCOPES}
        studies={studies}
        action="Make it"
        onGrant={(name, scope, study) =>
          act("POST", "/api/desk/tokens", { name, scope, study: scope === "host" ? null : study })
        }
      />
    </section>
  );
}

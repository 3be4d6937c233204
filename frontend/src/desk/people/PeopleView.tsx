import { useContext, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { copyText } from "../../shared/copy";
import { Failed, send } from "../api";
import type { PersonRow, StudyRole, TokenRow } from "../api_types";
import { when } from "../format";
import { LoadStatus } from "../LoadStatus";
import { ResearcherContext, usePolled } from "../polled";
import { Table } from "../Table";

export const ROLES = [
  ["viewer", "viewer: sees how far runs are"],
  ["analyst", "analyst: reads transcripts, scores and reports"],
  ["researcher", "researcher: changes studies and runs, sees workers’ ids"],
  ["owner", "owner: everything, people too"],
] as const;
const SCOPES = [...ROLES.slice(0, 3), ["host", "host: a bot host that dials in, no more"]] as const;

/** Who may use the desk, and their tokens. */
export function PeopleView() {
  const { data, failure } = usePolled("/api/desk/people");
  const { data: tokens, failure: lost } = usePolled("/api/desk/tokens");
  const { data: studies } = usePolled("/api/desk/studies");
  const names = studies?.studies.map(({ name }) => name) ?? [];
  return (
    <>
      <h1>People</h1>
      <LoadStatus failure={failure ?? lost} empty={data === null} />
      {data && <People people={data.people} studies={names} />}
      {tokens && <Tokens tokens={tokens.tokens} studies={names} />}
    </>
  );
}

/** Does something, and keeps the secret that it answers, shown once, or the reason why it failed. */
export function useAction() {
  const { token } = useContext(ResearcherContext);
  const [secret, setSecret] = useState<{ what: string; text: string } | null>(null);
  const [complaint, setComplaint] = useState("");
  const act = async (method: "POST" | "PUT" | "DELETE", address: string, body?: unknown) => {
    setComplaint("");
    try {
      const made = (await send(method, address, body, token)) as Record<string, string> | null;
      if (made?.link) {
        setSecret({
          what: `The link for ${made.name}: it lets them choose a password, once`,
          text: made.link,
        });
      } else if (made?.token) {
        setSecret({ what: `The token ${made.name}: it can’t be shown again`, text: made.token });
      }
      return true;
    } catch (error) {
      setComplaint(error instanceof Failed ? error.message : String(error));
      return false;
    }
  };
  const shown = (
    <>
      <p class="complaint" role="alert">
        {complaint}
      </p>
      <div role="status">{secret && <Secret key={secret.text} {...secret} />}</div>
    </>
  );
  return { act, shown };
}

function Secret({ what, text }: { what: string; text: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <div class="box secret">
      <p class="label">{what}</p>
      <p class="copy">
        <code>{text}</code>
        <Button kind="plain" onClick={() => void copyText(text, null).then(setCopied)}>
          {copied ? "Copied" : "Copy"}
        </Button>
      </p>
    </div>
  );
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
        <Table
          cards
          label="Table of people"
          columns={[
            { name: "Name" },
            { name: "Roles" },
            { name: "Password" },
            { name: "Since" },
            { name: "Actions" },
          ]}
        >
          {people.map((person) => (
            <tr key={person.name}>
              <th scope="row">{person.name}</th>
              <td data-name="Roles">{person.roles.map(inWords).join(", ")}</td>
              <td data-name="Password">{person.has_password ? "chosen" : "not yet"}</td>
              <td data-name="Since">{when(person.created_at)}</td>
              <td>
                <Button kind="plain" onClick={() => void act("POST", `${at(person.name)}/link`)}>
                  New link<span class="unseen"> for {person.name}</span>
                </Button>
                <Confirmed
                  what="Remove"
                  whom={person.name}
                  onConfirm={() => void act("DELETE", at(person.name))}
                />
              </td>
            </tr>
          ))}
        </Table>
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

function Tokens({ tokens, studies }: { tokens: TokenRow[]; studies: string[] }) {
  const { act, shown } = useAction();
  const inUse = tokens.filter((token) => token.revoked_at === null);
  return (
    <section aria-labelledby="tokens">
      <div class="section-head">
        <h2 id="tokens">Tokens for programs</h2>
      </div>
      {inUse.length === 0 ? (
        <p class="soft">None is in use, beside the installation’s own.</p>
      ) : (
        <Table
          cards
          label="Table of tokens"
          columns={[{ name: "Name" }, { name: "For" }, { name: "Made" }, { name: "Actions" }]}
        >
          {inUse.map((token) => (
            <tr key={token.name}>
              <th scope="row">{token.name}</th>
              <td data-name="For">
                {token.scope === "host" ? "bot host" : inWords({ role: token.scope, study: token.study })}
              </td>
              <td data-name="Made">{when(token.created_at)}</td>
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

interface GrantProps {
  title: string;
  label: string;
  choices: readonly (readonly [value: string, label: string])[];
  studies: string[];
  action: string;
  onGrant: (name: string, role: string, study: string | null) => Promise<boolean>;
}

/** Asks for a name, a role and the study that it is for. */
function Grant({ title, label, choices, studies, action, onGrant }: GrantProps) {
  const [name, setName] = useState("");
  const [role, setRole] = useState("viewer");
  const [study, setStudy] = useState("");
  const id = action.replaceAll(" ", "-");
  const submit = async (event: Event) => {
    event.preventDefault();
    if (await onGrant(name.trim(), role, study || null)) {
      setName("");
    }
  };
  return (
    <form class="box grant" aria-label={title} onSubmit={(event) => void submit(event)}>
      <h3>{title}</h3>
      <div class="field">
        <label class="label" for={`${id}-name`}>
          {label}
        </label>
        <input
          id={`${id}-name`}
          class="input"
          required
          autocomplete="off"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </div>
      <div class="field">
        <label class="label" for={`${id}-role`}>
          Role
        </label>
        <select
          id={`${id}-role`}
          class="input"
          value={role}
          onChange={(event) => setRole(event.currentTarget.value)}
        >
          {choices.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </div>
      <div class="field">
        <label class="label" for={`${id}-study`}>
          Study
        </label>
        <select
          id={`${id}-study`}
          class="input"
          value={study}
          onChange={(event) => setStudy(event.currentTarget.value)}
        >
          <option value="">all studies</option>
          {studies.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </div>
      <div class="actions">
        <Button type="submit">{action}</Button>
      </div>
    </form>
  );
}

/** A button that has to be pressed twice. */
export function Confirmed({ what, whom, onConfirm }: { what: string; whom: string; onConfirm: () => void }) {
  const [asked, setAsked] = useState(false);
  return (
    <Button kind="plain" onClick={() => (asked ? onConfirm() : setAsked(true))}>
      {asked ? `Really ${what.toLowerCase()}?` : what}
      <span class="unseen"> {whom}</span>
    </Button>
  );
}

function inWords({ role, study }: StudyRole): string {
  return `${role} of ${study ?? "all studies"}`;
}

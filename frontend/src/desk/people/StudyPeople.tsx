import { Button } from "../../design/Button";
import { apiAddress } from "../api";
import type { StudyPeople as People } from "../api_types";
import { LoadStatus } from "../LoadStatus";
import { newestOf, usePushed } from "../pushed";
import { Confirmed, useAction } from "./action";
import { Grant } from "./Grant";
import { PeopleTable } from "./PeopleTable";
import { ROLES } from "./roles";

/** Who may use one study, for its owners: they invite to it, and take their own people's roles away again. */
export function StudyPeople({ study }: { study: string }) {
  const { data, failure } = usePushed("/api/desk/watch/studies/{study}/people", { study }, newestOf<People>);
  const { act, shown } = useAction();
  const address = apiAddress("/api/desk/studies/{study}/people", { study });
  const at = (name: string) => `${address}/${encodeURIComponent(name)}`;
  return (
    <section aria-label="People of this study">
      <LoadStatus failure={failure} empty={data === null} />
      {data && data.people.length > 0 && (
        <PeopleTable
          label="Table of people of this study"
          people={data.people}
          roles={({ role, of_all }) => role ?? `${of_all} of all studies`}
        >
          {({ name, role, may_have_link }) => (
            <>
              {role && may_have_link && (
                <Button kind="quiet" onClick={() => void act("POST", `${at(name)}/link`)}>
                  New link<span class="unseen"> for {name}</span>
                </Button>
              )}
              {role && (
                <Confirmed what="Take away" whom={name} onConfirm={() => void act("DELETE", at(name))} />
              )}
            </>
          )}
        </PeopleTable>
      )}
      {shown}
      <Grant
        title="Invite to this study, or change a role"
        label="Name or e-mail address"
        choices={ROLES}
        action="Save"
        onGrant={(name, role) => act("POST", address, { name, role })}
      />
    </section>
  );
}

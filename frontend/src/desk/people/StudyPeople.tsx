import { apiAddress } from "../api";
import type { StudyPeople as People } from "../api_types";
import { useFetched } from "../fetched";
import { LoadStatus } from "../LoadStatus";
import { newestOf, usePushed } from "../pushed";
import { useAction } from "./action";
import { Grant } from "./Grant";
import { linkActions, PeopleTable } from "./PeopleTable";
import { nameOf, ROLES } from "./roles";

/** Who may use one study, for its owners: they invite to it, and take their own people's roles away again. */
export function StudyPeople({ study }: { study: string }) {
  const { data, failure } = usePushed("/api/desk/watch/studies/{study}/people", { study }, newestOf<People>);
  const mails = useFetched("/api/desk/invitation-mail", {}, "").data?.available ?? false;
  const { act, shown } = useAction();
  const address = apiAddress("/api/desk/studies/{study}/people", { study });
  const at = (name: string) => `${address}/${encodeURIComponent(name)}`;
  return (
    <section aria-label="People of this study">
      <LoadStatus failure={failure} empty={data === null} />
      {data && data.people.length > 0 && (
        <PeopleTable
          label="People of this study"
          people={data.people}
          roles={({ role, of_all }) => (role ? nameOf(role) : `${nameOf(of_all ?? "")}, all studies`)}
          actions={(person) => [
            ...(person.role && person.may_have_link ? linkActions(person, at(person.name), mails, act) : []),
            ...(person.role
              ? [
                  {
                    name: "Remove from study",
                    about:
                      "They lose their role in this study. An account without another role can no longer sign in.",
                    act: () => void act("DELETE", at(person.name)),
                  },
                ]
              : []),
          ]}
        />
      )}
      {shown}
      <Grant
        title="Invite to this study, or change a role"
        label="Name or e-mail address"
        choices={ROLES}
        mails={mails}
        action="Save"
        onGrant={({ name, role, byMail }) => act("POST", address, { name, role, by_mail: byMail })}
      />
    </section>
  );
}

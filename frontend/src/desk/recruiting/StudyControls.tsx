import { Button } from "../../design/Button";
import type { RecruitmentCost, RecruitmentDetail } from "../api_types";
import { useRequest } from "../jobs/useRequest";
import { type Action, useActionDialog } from "../run/ActionDialog";
import { type At, amount } from "./amounts";
import { Account, linesOf } from "./Cost";

interface Props {
  found: RecruitmentDetail;
  platform: string;
  at: At;
  onDone: () => void;
}

const asked = ({ name }: Action) => `${name}?`;

/** A draft's cost, before money is committed: publish it, or discard it and draft another. */
export function ReviewDraft({ found, platform, cost, at, onDone }: Props & { cost: RecruitmentCost | null }) {
  const { choose, dialog } = useActionDialog(asked, onDone);
  const total = cost === null ? null : amount(cost.projected.total, cost.currency);
  const publish: Action = {
    name: "Publish",
    about: `Participants can take part from now on. ${found.places} places cost ${
      total === null ? `their rewards and ${platform}’s fee` : `up to ${total}, fee and tax included`
    }. You can pause or close the study at any time.`,
    method: "POST",
    address: at("publish"),
  };
  return (
    <>
      <p>Nobody sees the draft, and it costs nothing. Publishing commits the total.</p>
      {cost === null ? (
        <p class="soft">Asking {platform} for the cost…</p>
      ) : (
        <Account lines={linesOf(cost, platform)} />
      )}
      {!found.pays_screen_outs && (
        <p class="failure">
          Participants who are screened out would get nothing, so the study can’t be published. Discard the
          draft, and create it again with paid screen-out places.
        </p>
      )}
      <div class="actions">
        <Button off={!found.pays_screen_outs} onClick={() => choose(publish)}>
          Publish{total === null ? "" : ` for up to ${total}`}
        </Button>
        <Actions actions={[discardOf(`The draft is deleted at ${platform}.`, at)]} onChoose={choose} />
      </div>
      {dialog}
    </>
  );
}

/** What can be done about the study on the platform now. */
export function StudyControls({ found, platform, at, onDone }: Props) {
  const { choose, dialog } = useActionDialog(asked, onDone);
  const { busy, failure, post } = useRequest();
  return (
    <>
      <div class="actions">
        {found.status !== "DRAFTING" && (
          <Button kind="secondary" busy={busy} onClick={() => void post(at("refresh")).then(onDone)}>
            Sync with {platform}
          </Button>
        )}
        <Actions actions={actionsOf(found, platform, at)} onChoose={choose} />
      </div>
      <p class="complaint" role="alert">
        {failure}
      </p>
      {dialog}
    </>
  );
}

function Actions({ actions, onChoose }: { actions: Action[]; onChoose: (action: Action) => void }) {
  return actions.map((action) => (
    <Button key={action.name} kind="secondary" onClick={() => onChoose(action)}>
      {action.name}
    </Button>
  ));
}

function discardOf(about: string, at: At): Action {
  return {
    name: "Discard draft",
    about: `${about} Then you can create another.`,
    method: "DELETE",
    address: at("").replace(/\/$/, ""),
  };
}

function actionsOf(found: RecruitmentDetail, platform: string, at: At): Action[] {
  const act = (name: string, path: string, about: string): Action => ({
    name,
    about,
    method: "POST",
    address: at(path),
  });
  const close: Action = {
    ...act(
      "Close study",
      "close",
      "No new participants get in. This cannot be undone. Those who are taking part can finish, and are paid.",
    ),
    danger: true,
  };
  const more: Action = {
    name: "Add places",
    about: `The study has ${found.places} places. The number can only grow; each place costs its reward and ${platform}’s fee.`,
    method: "PUT",
    address: at("places"),
    words: {
      field: "places",
      label: "New number of places",
      start: String(found.places),
      needed: true,
      number: true,
    },
  };
  switch (found.status) {
    case "DRAFTING":
      return [discardOf(`If ${platform} has the draft, it is deleted.`, at)];
    case "ACTIVE":
      return [
        act("Pause", "pause", "No new participants get in. Those who are taking part can finish."),
        more,
        close,
      ];
    case "PAUSED":
      return [act("Resume", "resume", "Participants can take part again."), more, close];
    default:
      return [];
  }
}

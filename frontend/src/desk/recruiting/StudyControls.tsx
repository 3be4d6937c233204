import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import type { RecruitmentDetail } from "../api_types";
import { useRequest } from "../jobs/useRequest";
import { type Action, ActionDialog } from "../run/ActionDialog";
import type { At } from "./amounts";

interface Props {
  found: RecruitmentDetail;
  platform: string;
  at: At;
  onDone: () => void;
}

/** What can be done about the study on the platform now. */
export function StudyControls({ found, platform, at, onDone }: Props) {
  const [chosen, setChosen] = useState<Action | null>(null);
  const { busy, failure, post } = useRequest();
  return (
    <>
      <div class="actions">
        {found.status !== "DRAFTING" && (
          <Button kind="secondary" busy={busy} onClick={() => void post(at("refresh")).then(onDone)}>
            Sync with {platform}
          </Button>
        )}
        {actionsOf(found, platform, at).map((action) => (
          <Button key={action.name} kind="secondary" onClick={() => setChosen(action)}>
            {action.name}
          </Button>
        ))}
      </div>
      <p class="complaint" role="alert">
        {failure}
      </p>
      {chosen && (
        <ActionDialog
          title={`${chosen.name}?`}
          action={chosen}
          onClose={() => {
            setChosen(null);
            onDone();
          }}
        />
      )}
    </>
  );
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
      return [
        {
          name: "Discard draft",
          about: `If ${platform} has the draft, it is deleted. Then you can create another.`,
          method: "DELETE",
          address: at("").replace(/\/$/, ""),
        },
      ];
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

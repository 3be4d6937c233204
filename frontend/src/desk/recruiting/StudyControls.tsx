import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import type { RecruitmentDetail } from "../api_types";
import { useRequest } from "../jobs/useRequest";
import { type Action, ActionDialog } from "../run/ActionDialog";
import { type At, amount } from "./amounts";

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
        {actionsOf(found, platform, at).map((action) => (
          <Button key={action.name} kind="secondary" onClick={() => setChosen(action)}>
            {action.name}
          </Button>
        ))}
        {found.status !== "DRAFTING" && (
          <Button kind="quiet" busy={busy} onClick={() => void post(at("refresh")).then(onDone)}>
            Sync with {platform}
          </Button>
        )}
      </div>
      <p class="complaint" role="alert">
        {failure}
      </p>
      {chosen && (
        <ActionDialog
          title={`${chosen.name} ${found.study}`.trim()}
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
  const close = act(
    "Close",
    "close",
    "Nobody new gets in, for good. Those who are under way can finish, and are paid.",
  );
  const more: Action = {
    name: "More places",
    about: "Places only grow.",
    method: "PUT",
    address: at("places"),
    words: {
      field: "places",
      label: "Places in all",
      start: String(found.places),
      needed: true,
      number: true,
    },
  };
  const discard: Action = {
    name: "Discard the draft",
    about: `The draft is deleted at ${platform}, and you can make another.`,
    method: "DELETE",
    address: at("").replace(/\/$/, ""),
  };
  switch (found.status) {
    case "DRAFTING":
      return [{ ...discard, about: `If ${platform} has the draft, it is deleted. You can make another.` }];
    case "UNPUBLISHED": {
      const cost = amount(found.places * found.reward, found.currency);
      const about = `Participants get in from now on. ${found.places} places cost ${cost}, and ${platform}'s fee.`;
      return [act("Publish", "publish", about), discard];
    }
    case "ACTIVE":
      return [act("Pause", "pause", "Nobody new gets in. Those who are under way can finish."), more, close];
    case "PAUSED":
      return [act("Resume", "resume", "Participants get in again."), more, close];
    default:
      return [];
  }
}

import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import type { RecruitmentCost, RecruitmentDetail } from "../api_types";
import { type Action, ActionDialog } from "../run/ActionDialog";
import { type At, amount } from "./amounts";
import { Account, linesOf } from "./Cost";

interface Props {
  found: RecruitmentDetail;
  platform: string;
  cost: RecruitmentCost | null;
  at: At;
  onDone: () => void;
}

/** A draft's cost, before money is committed: publish it, or discard it and draft another. */
export function ReviewDraft({ found, platform, cost, at, onDone }: Props) {
  const [chosen, setChosen] = useState<Action | null>(null);
  const total = cost === null ? null : amount(cost.projected.total, cost.currency);
  const publish: Action = {
    name: "Publish",
    about: `Participants can take part from now on. ${found.places} places cost ${
      total === null ? `their rewards and ${platform}’s fee` : `up to ${total}, fee and tax included`
    }. You can pause or close the study at any time.`,
    method: "POST",
    address: at("publish"),
  };
  const discard: Action = {
    name: "Discard draft",
    about: `The draft is deleted at ${platform}. Then you can create another.`,
    method: "DELETE",
    address: at("").replace(/\/$/, ""),
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
        <Button off={!found.pays_screen_outs} onClick={() => setChosen(publish)}>
          Publish{total === null ? "" : ` for up to ${total}`}
        </Button>
        <Button kind="secondary" onClick={() => setChosen(discard)}>
          Discard draft
        </Button>
      </div>
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

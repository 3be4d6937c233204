import { apiAddress } from "../api";
import type { ConversationDetail, TurnRow } from "../api_types";
import { SeenMark } from "./SeenMark";

interface Props {
  assignment: string;
  record: ConversationDetail;
  turn: TurnRow;
}

/** Who has seen that the moderation service flags a line; nothing where it does not. */
export function Flags({ assignment, record, turn }: Props) {
  const flag = turn.flags.find(({ by }) => by === "classifier");
  if (flag === undefined) {
    return null;
  }
  const address = apiAddress(
    "/api/desk/assignments/{assignment}/flagged-lines/{position}/{attempt}/{line}/seen",
    {
      assignment,
      position: String(record.position),
      attempt: String(record.attempt),
      line: String(turn.turn_index),
    },
  );
  return (
    <div class="reported">
      <p>
        <strong>Flagged by the moderation service: {flag.reason || "no category named"}</strong>
      </p>
      <SeenMark address={address} seenAt={flag.seen_at ?? null} seenBy={flag.seen_by ?? null} />
    </div>
  );
}

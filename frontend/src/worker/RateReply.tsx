import { useSession, useTexts } from "./hooks";
import type { TurnCard } from "./session/protocol";
import { type ConversationName, underWayFor } from "./session/reducer";

interface Props {
  chat: ConversationName;
  turn: TurnCard;
  /** How many points the scale has; two are thumbs, down and up. */
  points: number;
}

/** What the worker thinks of a reply: thumbs, or points. It can be changed until the conversation is rated. */
export function RateReply({ chat, turn, points }: Props) {
  const session = useSession();
  const { say } = useTexts();
  const value = underWayFor(session.state, chat, turn.turn) ?? turn.value;
  const { conversation, attempt } = chat;
  const rate = (point: number) =>
    session.send({ type: "rate_turn", conversation, attempt, turn: turn.turn, value: point });
  return (
    <fieldset class="rate-reply" aria-label={say("reply.rate")}>
      {Array.from({ length: points }, (_, index) => index + 1).map((point) => (
        <button
          key={point}
          type="button"
          class="rate-point"
          aria-pressed={point === value}
          aria-label={points === 2 ? say(point === 1 ? "reply.down" : "reply.up") : undefined}
          onClick={() => rate(point)}
        >
          {points === 2 ? <Thumb up={point === 2} /> : point}
        </button>
      ))}
    </fieldset>
  );
}

function Thumb({ up }: { up: boolean }) {
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true" class={up ? undefined : "thumb-down"}>
      <path d="M7 11v9H4v-9zM7 11l4-8c1.5 0 2.5 1 2.5 2.5L13 9h5.5a2 2 0 0 1 2 2.4l-1.3 7a2 2 0 0 1-2 1.6H7" />
    </svg>
  );
}

import { Button } from "../design/Button";
import { NAMES } from "./Both";
import { useSession, useTexts } from "./hooks";
import type { ComparisonCard } from "./session/protocol";
import { type ConversationName, underWay } from "./session/reducer";

interface Props {
  chat: ConversationName;
  turn: number;
  comparison: ComparisonCard;
}

/** Which of two replies is better: one press, and the conversation goes on. */
export function ChooseReply({ chat, turn, comparison }: Props) {
  const session = useSession();
  const { say } = useTexts();
  const { conversation, attempt } = chat;
  const sent = underWay(session.state, "choose", chat) !== null;
  const choose = (preference: "left" | "tie" | "right") => () =>
    session.send({ type: "choose", conversation, attempt, turn, preference });
  return (
    <fieldset class="choose-reply">
      <legend class="label">{comparison.question ?? say("compare.asked_turn")}</legend>
      <div class="choose-buttons">
        <Button kind="secondary" off={sent} onClick={choose("left")}>
          {say("compare.better", { name: NAMES.left })}
        </Button>
        {comparison.ties && (
          <Button kind="secondary" off={sent} onClick={choose("tie")}>
            {say("compare.tie")}
          </Button>
        )}
        <Button kind="secondary" off={sent} onClick={choose("right")}>
          {say("compare.better", { name: NAMES.right })}
        </Button>
      </div>
    </fieldset>
  );
}

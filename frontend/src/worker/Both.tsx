import { useTexts } from "./hooks";
import { Reply } from "./Reply";
import type { TurnCard } from "./session/protocol";

/** What workers call the two chatbots: the one on the left, or above, and the other. */
export const NAMES = { left: "A", right: "B" } as const;

/** The replies of two chatbots to the same line: beside each other, one below the other on a phone. */
export function Both({ turn }: { turn: TurnCard }) {
  const { say } = useTexts();
  return (
    <div class="both">
      {(["left", "right"] as const).map((side) => (
        <div key={side} class="bubble bubble-bot">
          <p class="both-name">{say("compare.name", { name: NAMES[side] })}</p>
          <Reply
            text={(side === "left" ? turn.text : turn.right) ?? ""}
            pace={turn.pace}
            shownFor={turn.shown_for}
          />
        </div>
      ))}
    </div>
  );
}

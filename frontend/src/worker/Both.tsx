import type { ComponentChildren } from "preact";
import { useTexts } from "./hooks";
import { Reply } from "./Reply";
import type { TurnCard } from "./session/protocol";
import type { Side } from "./session/reducer";

/** What workers call the two chatbots: the one on the left, or above, and the other. */
export const NAMES = { left: "A", right: "B" } as const;

/** Makes the button by which a reply is reported: of one chatbot, or of this one of two. */
export type Reporter = (turn: TurnCard, side: Side | null) => ComponentChildren;

/** The replies of two chatbots to the same line: beside each other, one below the other on a phone. */
export function Both({ turn, report }: { turn: TurnCard; report: Reporter }) {
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
          {report(turn, turn.right === null ? null : side)}
        </div>
      ))}
    </div>
  );
}

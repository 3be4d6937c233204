import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { RadioCards } from "../../design/RadioCards";
import { Both, NAMES } from "../Both";
import { Heading } from "../Heading";
import { useDraft, useSession, useTexts, useTitle } from "../hooks";
import { Report } from "../Report";
import type { StudyCard, TurnCard } from "../session/protocol";
import { type ChoiceScreen, underWay } from "../session/reducer";

interface Props {
  screen: ChoiceScreen;
  study: StudyCard;
}

type Preference = "left" | "tie" | "right";

/** Two conversations are over: which of the two does the worker prefer? Both can be read once more. */
export function Choice({ screen, study }: Props) {
  const { conversation, attempt, turn, turns } = screen;
  const { say } = useTexts();
  useTitle(say("compare.tab", { now: conversation }));
  const session = useSession();
  const [preference, setPreference] = useDraft<Preference | null>(`${conversation}:choice`, null);
  const [tried, setTried] = useState(false);
  const sending = underWay(session.state, "choose", screen) !== null;
  const submit = (event: Event) => {
    event.preventDefault();
    if (preference === null) {
      setTried(true);
    } else if (!sending) {
      session.send({ type: "choose", conversation, attempt, turn, preference });
    }
  };
  const choices: { value: Preference; label: string }[] = [
    { value: "left", label: say("compare.name", { name: NAMES.left }) },
    ...(study.comparison?.ties ? [{ value: "tie" as const, label: say("compare.tie") }] : []),
    { value: "right", label: say("compare.name", { name: NAMES.right }) },
  ];
  return (
    <div class="page page-wide">
      <form class="flow" onSubmit={submit} noValidate>
        <div class="flow-tight">
          <p class="kicker">{say("rating.over", { now: conversation, all: study.conversations })}</p>
          <Heading>{say("compare.title")}</Heading>
        </div>
        <RadioCards
          legend={study.comparison?.question ?? say("compare.asked")}
          choices={choices}
          value={preference}
          onChange={setPreference}
          row
          complaint={tried && preference === null ? say("compare.missing") : null}
        />
        <div class="actions">
          <Button type="submit" off={sending}>
            {say(sending ? "common.wait" : "compare.submit")}
          </Button>
        </div>
        <section class="compared" aria-label={say("compare.said")}>
          {turns.map((line) => (
            <Line key={line.turn} line={line} screen={screen} />
          ))}
        </section>
      </form>
    </div>
  );
}

function Line({ line, screen }: { line: TurnCard; screen: ChoiceScreen }) {
  const { say } = useTexts();
  if (line.author === "bot") {
    return (
      <Both
        turn={{ ...line, pace: null }}
        report={({ turn, text, right }, side) => (
          <Report screen={screen} turn={turn} side={side} text={(side === "right" ? right : text) ?? ""} />
        )}
      />
    );
  }
  return (
    <div class="bubble bubble-own">
      <span class="unseen">{`${say("chat.you")}: `}</span>
      <span class="bubble-text" dir="auto" translate={false}>
        {line.text}
      </span>
    </div>
  );
}

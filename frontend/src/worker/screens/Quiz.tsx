import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { RadioCards } from "../../design/RadioCards";
import { Heading } from "../Heading";
import { useDraft, useSession, useTexts, useTitle } from "../hooks";
import { Reply } from "../Reply";
import type { StudyCard } from "../session/protocol";
import { type QuizScreen, underWay } from "../session/reducer";

interface Props {
  screen: QuizScreen;
  study: StudyCard;
}

/** Which of these lines, or personas, is the chat partner's? Nothing of the conversation can be read here. */
export function Quiz({ screen, study }: Props) {
  const { conversation, attempt, about, lines } = screen;
  const { say } = useTexts();
  useTitle(say("quiz.tab", { now: conversation }));
  const session = useSession();
  const [chosen, setChosen] = useDraft<string | null>(`${conversation}.${attempt}:quiz`, null);
  const [tried, setTried] = useState(false);
  const sending = underWay(session.state, "answer_quiz", screen) !== null;
  const submit = (event: Event) => {
    event.preventDefault();
    if (chosen === null) {
      setTried(true);
    } else if (!sending) {
      session.send({ type: "answer_quiz", conversation, attempt, choice: Number(chosen) });
    }
  };
  return (
    <div class="page">
      <form class="panel flow" onSubmit={submit} noValidate>
        <div class="flow-tight">
          <p class="kicker">{say("rating.over", { now: conversation, all: study.conversations })}</p>
          <Heading>{say("quiz.title")}</Heading>
          <p class="soft">{say("quiz.lead")}</p>
        </div>
        <RadioCards
          legend={say(about === "lines" ? "quiz.asked" : "quiz.asked_persona")}
          choices={lines.map((text, index) => ({
            value: String(index + 1),
            label:
              about === "lines" ? <Reply text={text} pace={null} shownFor={null} /> : <Persona text={text} />,
          }))}
          value={chosen}
          onChange={setChosen}
          complaint={tried && chosen === null ? say("common.choose") : null}
        />
        <div class="actions">
          <Button type="submit" off={sending}>
            {say(sending ? "common.wait" : "quiz.submit")}
          </Button>
        </div>
      </form>
    </div>
  );
}

/** A persona, each of its sentences on a line. */
function Persona({ text }: { text: string }) {
  return (
    <span class="persona" dir="auto">
      {text.split("\n").map((sentence) => (
        <span key={sentence}>{sentence}</span>
      ))}
    </span>
  );
}

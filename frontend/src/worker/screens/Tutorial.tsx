import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { RadioCards } from "../../design/RadioCards";
import { Explanation } from "../Explanation";
import { Heading } from "../Heading";
import { useSession, useTexts, useTitle } from "../hooks";
import type { QuestionCard } from "../session/protocol";
import { underWay } from "../session/reducer";

/** A test question. A wrong answer is explained, and the question asked again. */
export function Tutorial({ card }: { card: QuestionCard }) {
  const { question, questions, text, asked, answers, why } = card;
  const { say } = useTexts();
  useTitle(say("tutorial.tab", { now: question }));
  const session = useSession();
  const [answer, setAnswer] = useState<string | null>(null);
  const [tried, setTried] = useState(false);
  const sending = underWay(session.state, "answer") !== null;

  const submit = (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (answer !== null && !sending) {
      session.send({ type: "answer", question, answer: Number(answer) });
    }
  };

  return (
    <div class="page">
      {why !== null && <Explanation of="tutorial.wrong" why={why} />}
      <form class="panel flow" onSubmit={submit} noValidate>
        <div class="flow-tight">
          <p class="kicker">{say("tutorial.kicker", { now: question, all: questions })}</p>
          <Heading>{say("tutorial.title")}</Heading>
          <p class="soft">{say("tutorial.lead")}</p>
        </div>
        <div>
          <blockquote class="item-text item-judged" dir="auto" translate={false}>
            {text}
          </blockquote>
        </div>
        <RadioCards
          legend={asked}
          choices={answers.map((label, index) => ({ value: String(index + 1), label }))}
          value={answer}
          onChange={setAnswer}
          complaint={tried && answer === null ? say("common.choose") : null}
        />
        <div class="actions">
          <Button type="submit" off={sending}>
            {say(sending ? "common.wait" : "tutorial.answer")}
          </Button>
        </div>
      </form>
    </div>
  );
}

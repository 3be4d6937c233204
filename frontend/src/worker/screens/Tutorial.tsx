import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { RadioCards } from "../../design/RadioCards";
import { Heading } from "../Heading";
import { useSession, useTitle } from "../hooks";
import type { QuestionCard } from "../session/protocol";
import { underWay } from "../session/reducer";

/** A test question. A wrong answer is explained, and the question asked again. */
export function Tutorial({ card }: { card: QuestionCard }) {
  const { question, questions, text, asked, answers, why } = card;
  useTitle(`Question ${question}`);
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
      {why !== null && (
        <div class="panel panel-calm" role="status">
          <p>
            <strong>Not quite.</strong> {why} Please answer again.
          </p>
        </div>
      )}
      <form class="panel flow" onSubmit={submit} noValidate>
        <div>
          <p class="kicker">
            Question {question} of {questions}
          </p>
          <Heading>A few questions first</Heading>
          <p class="soft">They show what to look for. After them you begin.</p>
        </div>
        <blockquote class="item-text">{text}</blockquote>
        <RadioCards
          legend={asked}
          choices={answers.map((label, index) => ({ value: String(index + 1), label }))}
          value={answer}
          onChange={setAnswer}
          complaint={tried && answer === null ? "Please choose one." : null}
        />
        <div class="actions">
          <Button type="submit" off={sending}>
            {sending ? "One moment…" : "Answer"}
          </Button>
        </div>
      </form>
    </div>
  );
}

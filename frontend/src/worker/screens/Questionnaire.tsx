import { useRef, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Heading } from "../Heading";
import { useDraft, useSession, useTexts, useTitle } from "../hooks";
import { showFirstMissing } from "../missing";
import { type Answers, faulty, Questions, toSend } from "../Questions";
import type { AskedQuestion } from "../session/protocol";
import { type QuestionnaireScreen, underWay } from "../session/reducer";

interface Props {
  screen: QuestionnaireScreen;
  asked: readonly AskedQuestion[];
}

/** What a study asks before the first conversation, or after the last. */
export function Questionnaire({ screen: { part }, asked }: Props) {
  const { say } = useTexts();
  useTitle(say("question.tab"));
  const session = useSession();
  const form = useRef<HTMLFormElement>(null);
  const [answers, setAnswers] = useDraft<Answers>(`questions:${part}`, {});
  const [tried, setTried] = useState(false);
  const missing = faulty(asked, answers).length;
  const sending = underWay(session.state, "questionnaire") !== null;

  const submit = (event: Event) => {
    event.preventDefault();
    if (missing > 0) {
      setTried(true);
      showFirstMissing(form.current);
    } else if (!sending) {
      session.send({ type: "questionnaire", part, answers: toSend(asked, answers) });
    }
  };

  return (
    <div class="page page-barred">
      <form ref={form} onSubmit={submit} noValidate>
        <div class="flow-tight">
          <p class="kicker">{say(`question.${part}`)}</p>
          <Heading>{say("question.title")}</Heading>
        </div>
        <Questions name={part} asked={asked} answers={answers} onChange={setAnswers} tried={tried} />
        <div class="bar">
          <p class="soft small" role="status">
            {missing === 0 ? say("question.ready") : say("rating.to_answer", { n: missing })}
          </p>
          <Button type="submit" kind={missing > 0 ? "secondary" : "primary"} off={sending}>
            {say(sending ? "common.wait" : "question.next")}
          </Button>
        </div>
      </form>
    </div>
  );
}

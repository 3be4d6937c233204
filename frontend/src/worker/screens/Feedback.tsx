import { Button } from "../../design/Button";
import { Excess } from "../Excess";
import { Heading } from "../Heading";
import { useDraft, useSession, useTexts, useTitle } from "../hooks";
import { MAX_FEEDBACK, roomIn } from "../limits";
import type { StudyCard } from "../session/protocol";
import { underWay } from "../session/reducer";
import { TASKS } from "../tasks";

/** The optional box at the end; pressing its button hands the assignment in. */
export function Feedback({ study }: { study: StudyCard }) {
  const { say } = useTexts();
  useTitle(say("feedback.tab"));
  const session = useSession();
  const [text, setText] = useDraft("feedback", "");
  const sending = underWay(session.state, "feedback") !== null;
  const tooLong = roomIn(text, MAX_FEEDBACK) < 0;
  const submit = (event: Event) => {
    event.preventDefault();
    if (!sending && !tooLong) {
      session.send({ type: "feedback", text: text.trim() });
    }
  };
  return (
    <div class="page">
      <form class="panel flow" onSubmit={submit}>
        <div>
          <p class="kicker">{say(TASKS[study.task].feedback)}</p>
          <Heading>{say("feedback.title")}</Heading>
        </div>
        <div class="field">
          <label class="label" for="feedback">
            {say("feedback.label")}
          </label>
          <p class="soft small" id="feedback-empty">
            {say("feedback.empty")}
          </p>
          <textarea
            id="feedback"
            class="input"
            dir={text ? "auto" : undefined}
            rows={6}
            value={text}
            placeholder={say("feedback.hint")}
            aria-invalid={tooLong ? "true" : undefined}
            aria-describedby="feedback-empty feedback-excess"
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <Excess id="feedback-excess" text={text} most={MAX_FEEDBACK} />
        </div>
        <div class="actions">
          <Button type="submit" off={sending || tooLong}>
            {say(sending ? "feedback.submitting" : "feedback.submit")}
          </Button>
        </div>
      </form>
    </div>
  );
}

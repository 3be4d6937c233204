import { Button } from "../../design/Button";
import { Heading } from "../Heading";
import { useDraft, useSession, useTitle } from "../hooks";
import { MAX_FEEDBACK } from "../limits";
import { underWay } from "../session/reducer";

/** The optional box at the end; pressing its button hands the assignment in. */
export function Feedback() {
  useTitle("Feedback");
  const session = useSession();
  const [text, setText] = useDraft("feedback", "");
  const sending = underWay(session.state, "feedback") !== null;
  const submit = (event: Event) => {
    event.preventDefault();
    if (!sending) {
      session.send({ type: "feedback", text: text.trim() });
    }
  };
  return (
    <div class="page">
      <form class="panel flow" onSubmit={submit}>
        <div>
          <p class="kicker">All conversations are done</p>
          <Heading>Anything you would like to tell us?</Heading>
        </div>
        <div class="field">
          <label class="label" for="feedback">
            Your feedback <span class="soft">(optional)</span>
          </label>
          <textarea
            id="feedback"
            class="input"
            rows={6}
            value={text}
            maxLength={MAX_FEEDBACK}
            placeholder="What went well, what was odd, what was unclear…"
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </div>
        <div class="actions">
          <Button type="submit" off={sending}>
            {sending ? "Handing in…" : "Hand in"}
          </Button>
          <p class="soft small">You can leave the box empty.</p>
        </div>
      </form>
    </div>
  );
}

import { Button } from "../design/Button";
import { Dialog } from "../design/Dialog";
import { useSession, useTexts } from "./hooks";
import type { ConversationName } from "./session/reducer";

interface Props {
  chat: ConversationName;
  missing: number;
  last: boolean;
  replyDue: boolean;
  ending: boolean;
  /** Whether every conversation is rated, so that this one will be. */
  ratesAll: boolean;
  onClose: () => void;
}

/** What “Finish” opens: the count of missing messages, or the question whether to go on. */
export function EndDialog(props: Props) {
  return props.missing > 0 ? <TooFew {...props} /> : <Confirm {...props} />;
}

function TooFew({ missing, onClose }: Props) {
  const { say } = useTexts();
  return (
    <Dialog title={say("end.few_title")} onClose={onClose}>
      <p>{say("end.few", { n: missing })}</p>
      <div class="actions">
        <Button onClick={onClose}>{say("end.stay")}</Button>
      </div>
    </Dialog>
  );
}

function Confirm({ chat, last, replyDue, ending, ratesAll, onClose }: Props) {
  const session = useSession();
  const { say } = useTexts();
  const { conversation, attempt } = chat;
  const end = () => session.send({ type: "end_conversation", conversation, attempt });
  const then = [
    say("end.no_return"),
    ...(ratesAll ? [say("end.then_rate")] : []),
    say(last ? "end.then_done" : "end.then_next"),
  ];
  return (
    <Dialog title={say("end.title")} onClose={onClose}>
      <p>{then.join(" ")}</p>
      {replyDue && (
        <p class="soft" role="status">
          {say("end.writing")}
        </p>
      )}
      <div class="actions">
        <Button kind="quiet" onClick={onClose}>
          {say("end.stay")}
        </Button>
        <Button off={replyDue || ending} onClick={end}>
          {say(ending ? "common.wait" : ratesAll ? "end.rate" : "end.finish")}
        </Button>
      </div>
    </Dialog>
  );
}

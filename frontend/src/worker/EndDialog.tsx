import { Button } from "../design/Button";
import { Dialog } from "../design/Dialog";
import { useSession } from "./hooks";
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

/** What "Next chatbot" opens: the count of missing inputs, or the question whether to go on. */
export function EndDialog(props: Props) {
  return props.missing > 0 ? <TooFew {...props} /> : <Confirm {...props} />;
}

function TooFew({ missing, onClose }: Props) {
  return (
    <Dialog title="A little more, please" onClose={onClose}>
      <p>
        {missing === 1 ? "One more message is needed" : `${missing} more messages are needed`} in this
        conversation before you can go on.
      </p>
      <div class="actions">
        <Button onClick={onClose}>Keep chatting</Button>
      </div>
    </Dialog>
  );
}

function Confirm({ chat, last, replyDue, ending, ratesAll, onClose }: Props) {
  const session = useSession();
  const { conversation, attempt } = chat;
  const end = () => session.send({ type: "end_conversation", conversation, attempt });
  return (
    <Dialog title="Finish this conversation?" onClose={onClose}>
      <p>
        You can’t come back to it. {ratesAll && "Next you rate it. "}
        {last ? "Then you are nearly done." : "Then a new chatbot follows."}
      </p>
      {replyDue && (
        <p class="soft" role="status">
          One moment: the chatbot is still writing its last reply.
        </p>
      )}
      <div class="actions">
        <Button kind="quiet" onClick={onClose}>
          Keep chatting
        </Button>
        <Button off={replyDue || ending} onClick={end}>
          {ending ? "One moment…" : ratesAll ? "Finish and rate" : "Finish"}
        </Button>
      </div>
    </Dialog>
  );
}

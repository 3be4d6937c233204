import { Button } from "../design/Button";
import { Dialog } from "../design/Dialog";
import { useSession } from "./hooks";
import type { StudyCard } from "./session/protocol";
import type { ConversationName } from "./session/reducer";

interface Props {
  chat: ConversationName;
  missing: number;
  last: boolean;
  replyDue: boolean;
  ending: boolean;
  study: StudyCard;
  onClose: () => void;
}

/** What "Next chatbot" opens: the count of missing inputs, or the question whether to go on. */
export function EndDialog(props: Props) {
  return props.missing > 0 ? <TooFew {...props} /> : <Confirm {...props} />;
}

/** What comes after the conversation, if anything is asked about it for sure. */
function next({ comparison, criteria, rates_all: ratesAll }: StudyCard): string {
  if (comparison?.choose === "end") {
    return "Next you compare the two. ";
  }
  return ratesAll && criteria.length > 0 ? `Next you rate ${comparison ? "both" : "it"}. ` : "";
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

function Confirm({ chat, last, replyDue, ending, study, onClose }: Props) {
  const session = useSession();
  const { conversation, attempt } = chat;
  const pair = study.comparison !== null;
  const rates = study.rates_all && study.criteria.length > 0;
  const end = () => session.send({ type: "end_conversation", conversation, attempt });
  return (
    <Dialog title="Finish this conversation?" onClose={onClose}>
      <p>
        You can’t come back to it. {next(study)}
        {last
          ? "Then you are nearly done."
          : `Then ${pair ? "two new chatbots follow" : "a new chatbot follows"}.`}
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
          {ending ? "One moment…" : rates ? "Finish and rate" : "Finish"}
        </Button>
      </div>
    </Dialog>
  );
}

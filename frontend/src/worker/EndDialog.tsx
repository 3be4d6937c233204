import { Button } from "../design/Button";
import { Dialog } from "../design/Dialog";
import { useSession, useTexts } from "./hooks";
import type { StudyCard } from "./session/protocol";
import type { ConversationName } from "./session/reducer";
import { paragraph, type TextKey } from "./texts/words";

interface Props {
  chat: ConversationName;
  missing: number;
  last: boolean;
  replyDue: boolean;
  ending: boolean;
  study: StudyCard;
  onClose: () => void;
}

/** What “Finish” opens: the count of missing messages, or the question whether to go on. */
export function EndDialog(props: Props) {
  return props.missing > 0 ? <TooFew {...props} /> : <Confirm {...props} />;
}

/** What comes after the conversation, if anything is asked about it for sure. */
function next({ comparison, criteria, rates_all: ratesAll }: StudyCard): TextKey[] {
  const rates = ratesAll && criteria.length > 0;
  if (comparison === null) {
    return rates ? ["end.then_rate"] : [];
  }
  return [
    ...(comparison.choose === "end" ? ["end.then_compare" as const] : []),
    ...(rates ? ["end.then_rate_both" as const] : []),
  ];
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

function Confirm({ chat, last, replyDue, ending, study, onClose }: Props) {
  const session = useSession();
  const { say } = useTexts();
  const { conversation, attempt } = chat;
  const pair = study.comparison !== null;
  const rates = study.rates_all && study.criteria.length > 0;
  const end = () => session.send({ type: "end_conversation", conversation, attempt });
  const then = [
    say("end.no_return"),
    ...next(study).map((key) => say(key)),
    say(last ? "end.then_done" : pair ? "end.then_pair" : "end.then_next"),
  ];
  return (
    <Dialog title={say("end.title")} onClose={onClose}>
      <p>{paragraph(then)}</p>
      {replyDue && (
        <p class="soft" role="status">
          {say("end.writing")}
        </p>
      )}
      <div class="actions">
        <Button kind="secondary" onClick={onClose}>
          {say("end.stay")}
        </Button>
        <Button off={replyDue || ending} onClick={end}>
          {say(ending ? "common.wait" : rates ? "end.rate" : "end.finish")}
        </Button>
      </div>
    </Dialog>
  );
}

import { Code } from "../Code";
import { Heading } from "../Heading";
import { useTexts, useTitle } from "../hooks";
import { Marked } from "../Marked";
import { Paragraphs } from "../Paragraphs";
import { ReturnLink } from "../ReturnLink";
import type { StudyCard } from "../session/protocol";
import type { EndedScreen, Ending } from "../session/reducer";
import type { TextKey } from "../texts/words";

const WORDS: Record<Ending, [title: TextKey, ...text: TextKey[]]> = {
  expired: ["ended.expired_title", "ended.expired", "ended.expired_kept"],
  returned: ["ended.returned_title", "ended.worked"],
  reported: ["ended.reported_title", "ended.reported"],
  looked: ["ended.returned_title", "ended.looked"],
};

interface Props {
  screen: EndedScreen;
  study: StudyCard;
}

/** The assignment is over without having been handed in. */
export function Ended({ screen: { how, debriefing, returnTo, code }, study }: Props) {
  const { say } = useTexts();
  const [title, ...text] = WORDS[how];
  useTitle(say(title));
  return (
    <div class="page page-still">
      <div class="panel flow">
        <Heading>{say(title)}</Heading>
        {text.map((key) => (
          <p key={key}>{say(key)}</p>
        ))}
        {code !== null && <Code code={code} hasReturn={returnTo !== null} />}
        {returnTo && (
          <div class="actions">
            <ReturnLink to={returnTo} />
          </div>
        )}
        {debriefing && (
          <section class="flow-small">
            <h2>{say("done.debriefing")}</h2>
            <Paragraphs text={debriefing} />
          </section>
        )}
        {study.contact && (
          <p class="soft small">
            <Marked of="done.contact" values={{ contact: study.contact }} />
          </p>
        )}
      </div>
    </div>
  );
}

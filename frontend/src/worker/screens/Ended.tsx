import { Heading } from "../Heading";
import { useTexts, useTitle } from "../hooks";
import { Marked } from "../Marked";
import type { StudyCard } from "../session/protocol";
import type { Ending } from "../session/reducer";
import type { TextKey } from "../texts/words";

const WORDS: Record<Ending, [title: TextKey, ...text: TextKey[]]> = {
  expired: ["ended.expired_title", "ended.expired", "ended.expired_kept"],
  returned: ["ended.returned_title", "ended.worked"],
  looked: ["ended.returned_title", "ended.looked"],
};

/** The assignment is over without having been handed in. */
export function Ended({ how, study }: { how: Ending; study: StudyCard }) {
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
        {study.contact && (
          <p class="soft small">
            <Marked of="done.contact" values={{ contact: study.contact }} />
          </p>
        )}
      </div>
    </div>
  );
}

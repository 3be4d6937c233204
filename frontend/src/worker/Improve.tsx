import { MAX_EDIT } from "./limits";
import type { ItemContent, PostEditCard } from "./session/protocol";

/** Whether a text has to be improved, by how it was rated. */
export function mustImprove(
  asked: PostEditCard | null,
  item: ItemContent | null,
  ratings: Record<string, number>,
): boolean {
  const rating = asked ? ratings[asked.criterion] : undefined;
  return asked !== null && item !== null && item.text !== null && rating !== undefined && rating < asked.top;
}

interface Props {
  value: string;
  onChange: (text: string) => void;
  complaint: boolean;
}

/** The text that was read, to be made better. */
export function Improve({ value, onChange, complaint }: Props) {
  return (
    <div class="statement improve">
      <label class="statement-text" for="improve">
        Please improve the text: change what is wrong, and leave the rest as it is.
      </label>
      <textarea
        id="improve"
        class="input"
        rows={6}
        value={value}
        maxLength={MAX_EDIT}
        aria-invalid={complaint ? "true" : undefined}
        aria-describedby="improve-complaint"
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <p class="complaint" id="improve-complaint">
        {complaint ? "Please change what could be better." : ""}
      </p>
    </div>
  );
}

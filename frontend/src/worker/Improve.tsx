import { Excess } from "./Excess";
import { useTexts } from "./hooks";
import { MAX_EDIT, roomIn } from "./limits";
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
  const { say } = useTexts();
  return (
    <div class="statement improve">
      <label class="statement-text" for="improve">
        {say("improve.label")}
      </label>
      <textarea
        id="improve"
        class="input"
        dir={value ? "auto" : undefined}
        rows={6}
        value={value}
        aria-invalid={complaint || roomIn(value, MAX_EDIT) < 0 ? "true" : undefined}
        aria-describedby="improve-complaint improve-excess"
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <p class="complaint" id="improve-complaint">
        {complaint ? say("improve.complaint") : ""}
      </p>
      <Excess id="improve-excess" text={value} most={MAX_EDIT} />
    </div>
  );
}

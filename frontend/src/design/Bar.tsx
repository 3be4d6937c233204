/** The states that a whole is made of; each has its colour here and in a key beside. */
export type BarKind = "rated" | "unrated" | "active" | "planned" | "failed" | "skipped";

interface Part {
  /** Its share of the whole, in percent. */
  share: number;
  kind: BarKind;
}

interface Props {
  parts: Part[];
  /** What is under way, where no words beside the bar say it. */
  label?: string;
}

/** How far something is, as a bar of parts that follow one another. */
export function Bar({ parts, label }: Props) {
  const spans = parts.map(({ share, kind }) => (
    <span key={kind} class={`swatch-${kind}`} style={{ width: `${share}%` }} />
  ));
  if (label === undefined) {
    return (
      <div class="bar-whole" aria-hidden="true">
        {spans}
      </div>
    );
  }
  return (
    <div
      class="bar-whole"
      role="progressbar"
      aria-label={label}
      aria-valuenow={Math.round(parts[0]?.share ?? 0)}
      aria-valuemin={0}
      aria-valuemax={100}
    >
      {spans}
    </div>
  );
}

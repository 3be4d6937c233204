interface Props {
  now: number;
  of: number;
}

/** Where one stands in a row of conversations; a picture beside words that say the same. */
export function Steps({ now, of }: Props) {
  return (
    <div class="steps" aria-hidden="true">
      {Array.from({ length: of }, (_, index) => {
        const kind = index + 1 < now ? "step-done" : index + 1 === now ? "step-now" : "";
        return <span key={index} class={`step ${kind}`} />;
      })}
    </div>
  );
}

/** How far one is in a long row of items; a picture beside words that say the same. */
export function Progress({ now, of }: Props) {
  return (
    <div class="steps progress" aria-hidden="true">
      <span class="progress-done" style={{ width: `${(100 * (now - 1)) / of}%` }} />
    </div>
  );
}

/** How many of the needed inputs are there; a picture beside words that say the same. */
export function Meter({ now, of }: Props) {
  return (
    <div class="meter" aria-hidden="true">
      {Array.from({ length: of }, (_, index) => (
        <span key={index} class={index < now ? "meter-on" : ""} />
      ))}
    </div>
  );
}

import { useId } from "preact/hooks";

interface Props {
  /** The id of the element that says what is answered. */
  labelledBy: string;
  /** How many points the scale has. */
  points: number;
  /** Words for the first and the last point. */
  ends: readonly string[] | null;
  /** The point chosen, from 1. */
  value: number | null;
  onChange: (value: number) => void;
  /** What a screen reader says of a point; of the first and the last, with what they mean. */
  say: (point: number, words: string | null) => string;
  wrong?: boolean;
}

/** A Likert scale: points in a row, of which one is chosen. Real radio buttons: arrow keys move between them. */
export function Points({ labelledBy, points, ends, value, onChange, say, wrong }: Props) {
  const name = useId();
  return (
    <div class="points" role="radiogroup" aria-labelledby={labelledBy}>
      <div class="points-row">
        {Array.from({ length: points }, (_, index) => index + 1).map((point) => (
          <label key={point} class="point">
            <input
              type="radio"
              name={name}
              value={point}
              checked={point === value}
              aria-label={say(point, meaning(point, points, ends))}
              aria-invalid={wrong ? "true" : undefined}
              onChange={() => onChange(point)}
            />
            <span class="point-face" aria-hidden="true">
              {point}
            </span>
          </label>
        ))}
      </div>
      {ends !== null && (
        <p class="slider-ends" aria-hidden="true">
          <span>{ends[0]}</span>
          <span>{ends[1]}</span>
        </p>
      )}
    </div>
  );
}

function meaning(point: number, points: number, ends: readonly string[] | null): string | null {
  return (point === 1 ? ends?.[0] : point === points ? ends?.[1] : null) ?? null;
}

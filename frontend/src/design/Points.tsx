import { useId } from "preact/hooks";

interface Props {
  /** The id of the element that says what is answered. */
  labelledBy: string;
  /** How many points the scale has. */
  points: number;
  /** Words for the first and the last point; they are not shown if every point has a label. */
  ends: readonly string[] | null;
  /** Words for each point, shown on it; or none. */
  labels: readonly string[];
  /** The point chosen, from 1. */
  value: number | null;
  onChange: (value: number) => void;
  /** What a screen reader says of a point, with its words if it has any. */
  say: (point: number, words: string | null) => string;
  wrong?: boolean;
}

/** A Likert scale: points in a row, of which one is chosen. Real radio buttons: arrow keys move between them. */
export function Points({ labelledBy, points, ends, labels, value, onChange, say, wrong }: Props) {
  const name = useId();
  const labelled = labels.length > 0;
  const words = (point: number) => (labelled ? labels[point - 1] : endOf(point, points, ends)) ?? null;
  return (
    <div class="points" role="radiogroup" aria-labelledby={labelledBy}>
      <div class={labelled ? "points-row points-labelled" : "points-row"}>
        {Array.from({ length: points }, (_, index) => index + 1).map((point) => (
          <label key={point} class="point">
            <input
              type="radio"
              name={name}
              value={point}
              checked={point === value}
              aria-label={say(point, words(point))}
              aria-invalid={wrong ? "true" : undefined}
              onChange={() => onChange(point)}
            />
            <span class="point-face" aria-hidden="true">
              {point}
              {labelled && <span class="point-label">{words(point)}</span>}
            </span>
          </label>
        ))}
      </div>
      {ends !== null && !labelled && (
        <p class="slider-ends" aria-hidden="true">
          <span>{ends[0]}</span>
          <span>{ends[1]}</span>
        </p>
      )}
    </div>
  );
}

function endOf(point: number, points: number, ends: readonly string[] | null): string | undefined {
  return point === 1 ? ends?.[0] : point === points ? ends?.[1] : undefined;
}

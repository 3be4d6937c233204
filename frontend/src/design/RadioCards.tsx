import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

export interface Choice<T extends string> {
  value: T;
  label: ComponentChildren;
  picture?: ComponentChildren;
}

interface Props<T extends string> {
  legend: ComponentChildren;
  choices: Choice<T>[];
  value: T | null;
  onChange: (value: T) => void;
  /** Side by side instead of one below the other. */
  row?: boolean;
  complaint?: string | null;
}

/** One choice of several, as cards. Real radio buttons underneath: arrow keys move between them. */
export function RadioCards<T extends string>({ legend, choices, value, onChange, row, complaint }: Props<T>) {
  const name = useId();
  const wrong = Boolean(complaint);
  return (
    <fieldset aria-describedby={wrong ? `${name}-complaint` : undefined}>
      <legend class="label">{legend}</legend>
      <div class={row ? "cards cards-row" : "cards"}>
        {choices.map((choice) => (
          <label key={choice.value} class="card-radio">
            <input
              type="radio"
              name={name}
              value={choice.value}
              checked={choice.value === value}
              aria-invalid={wrong ? "true" : undefined}
              onChange={() => onChange(choice.value)}
            />
            <span class="card-dot" />
            {choice.picture}
            <span>{choice.label}</span>
          </label>
        ))}
      </div>
      <p class="complaint" id={`${name}-complaint`}>
        {complaint}
      </p>
    </fieldset>
  );
}

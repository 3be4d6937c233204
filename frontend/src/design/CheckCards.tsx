import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface Props {
  legend: ComponentChildren;
  choices: readonly string[];
  values: readonly string[];
  onChange: (values: string[]) => void;
  complaint?: string | null;
}

/** Any number of choices, as cards. Real check boxes underneath. Values stay in the order of the choices. */
export function CheckCards({ legend, choices, values, onChange, complaint }: Props) {
  const name = useId();
  const wrong = Boolean(complaint);
  const toggle = (choice: string) =>
    onChange(choices.filter((one) => (one === choice) !== values.includes(one)));
  return (
    <fieldset aria-describedby={wrong ? `${name}-complaint` : undefined}>
      <legend class="label">{legend}</legend>
      <div class="cards">
        {choices.map((choice) => (
          <label key={choice} class="card-radio">
            <input
              type="checkbox"
              checked={values.includes(choice)}
              aria-invalid={wrong ? "true" : undefined}
              onChange={() => toggle(choice)}
            />
            <span class="card-dot card-tick" />
            <span>{choice}</span>
          </label>
        ))}
      </div>
      <p class="complaint" id={`${name}-complaint`}>
        {complaint}
      </p>
    </fieldset>
  );
}

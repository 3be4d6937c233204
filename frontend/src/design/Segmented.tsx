import type { IconNode } from "lucide";
import { useId } from "preact/hooks";
import { Icon } from "./Icon";

interface Props<T extends string> {
  /** What is chosen, for who cannot see where it stands. */
  label: string;
  choices: readonly { value: T; name: string; icon?: IconNode; off?: boolean }[];
  value: T;
  onChange: (value: T) => void;
}

/** Two to four ways to see the same, side by side. Real radio buttons underneath: arrow keys move between them. */
export function Segmented<T extends string>({ label, choices, value, onChange }: Props<T>) {
  const name = useId();
  return (
    <fieldset class="segmented">
      <legend class="unseen">{label}</legend>
      {choices.map((choice) => (
        <label key={choice.value} class="segment">
          <input
            type="radio"
            name={name}
            checked={choice.value === value}
            disabled={choice.off ?? false}
            onChange={() => onChange(choice.value)}
          />
          <span class="segment-face">
            {choice.icon && <Icon of={choice.icon} />}
            {choice.name}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

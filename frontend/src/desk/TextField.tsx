import { useId } from "preact/hooks";

interface Props {
  label: string;
  value: string;
  onValue: (value: string) => void;
  /** What it means, or an example. */
  hint?: string;
  /** What is wrong with it; empty where nothing is. A field that can be wrong always has one. */
  complaint?: string;
  placeholder?: string;
  required?: boolean;
}

/** A field for a line of text that a program reads: no spelling is corrected in it. */
export function TextField({ label, value, onValue, hint, complaint, placeholder, required }: Props) {
  const id = useId();
  return (
    <div class="field">
      <label class="label" for={id}>
        {label}
      </label>
      <input
        id={id}
        class="input"
        value={value}
        autocomplete="off"
        spellcheck={false}
        required={required ?? false}
        {...(placeholder === undefined ? {} : { placeholder })}
        aria-describedby={`${id}-hint ${id}-complaint`}
        aria-invalid={complaint ? "true" : undefined}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      {hint && (
        <p class="soft small" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {complaint !== undefined && (
        <p class="complaint" id={`${id}-complaint`} role="alert">
          {complaint}
        </p>
      )}
    </div>
  );
}

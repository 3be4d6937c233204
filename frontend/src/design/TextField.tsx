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
  /** Is not shown as it is typed. */
  secret?: boolean;
  /** What the browser may fill in, and keep. */
  autocomplete?: "username" | "current-password" | "new-password";
  minLength?: number;
}

/** A field for a line of text that a program reads: no spelling is corrected in it. */
export function TextField({
  label,
  value,
  onValue,
  hint,
  complaint,
  placeholder,
  required,
  secret,
  autocomplete,
  minLength,
}: Props) {
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
        autocomplete={autocomplete ?? "off"}
        spellcheck={false}
        required={required ?? false}
        {...(secret ? { type: "password" as const } : {})}
        {...(placeholder === undefined ? {} : { placeholder })}
        {...(minLength === undefined ? {} : { minLength })}
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

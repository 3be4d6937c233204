interface Props {
  id: string;
  label: string;
  /** What it means, or what is taken where nothing is given. */
  hint: string;
  value: string;
  onValue: (value: string) => void;
  complaint?: string | undefined;
}

/** A field for a number, as text until it is sent. */
export function NumberField({ id, label, hint, value, onValue, complaint }: Props) {
  return (
    <div class="field">
      <label class="label" for={id}>
        {label}
      </label>
      <input
        id={id}
        class="input"
        inputMode="decimal"
        autocomplete="off"
        value={value}
        aria-invalid={complaint ? "true" : undefined}
        aria-describedby={`${id}-hint ${id}-complaint`}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      <p class="soft small" id={`${id}-hint`}>
        {hint}
      </p>
      <p class="complaint" id={`${id}-complaint`}>
        {complaint ?? ""}
      </p>
    </div>
  );
}

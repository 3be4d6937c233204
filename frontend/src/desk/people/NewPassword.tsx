import { TextField } from "../../design/TextField";

const SHORTEST = 12;

interface Props {
  label: string;
  value: string;
  onValue: (value: string) => void;
  complaint?: string;
}

/** A field for a password that somebody chooses. */
export function NewPassword({ label, ...field }: Props) {
  return (
    <TextField
      label={`${label}, ${SHORTEST} characters or more`}
      secret
      autocomplete="new-password"
      required
      minLength={SHORTEST}
      {...field}
    />
  );
}

/** Whose password it is, for what keeps passwords; people read it elsewhere. */
export function NameForBrowser({ name }: { name: string }) {
  return (
    <input class="unseen" autocomplete="username" value={name} readOnly tabIndex={-1} aria-hidden="true" />
  );
}

import { useId, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { TextField } from "../../design/TextField";
import type { RoleChoice } from "./roles";

/** What is given to somebody, or to a program. */
export interface Granted {
  name: string;
  role: string;
  study: string | null;
  byMail: boolean;
}

interface Props {
  title: string;
  label: string;
  choices: readonly RoleChoice[];
  /** Those that it can be for, beside all of them; none where it is plain which one. */
  studies?: string[];
  /** The server can send the link by e-mail. */
  mails?: boolean;
  action: string;
  onGrant: (granted: Granted) => Promise<boolean>;
}

/** Asks for a name, a role and the study that it is for. */
export function Grant({ title, label, choices, studies, mails = false, action, onGrant }: Props) {
  const [name, setName] = useState("");
  const [role, setRole] = useState("viewer");
  const [study, setStudy] = useState("");
  const [byMail, setByMail] = useState(true);
  const [busy, setBusy] = useState(false);
  const id = useId();
  const canMail = mails && name.includes("@");
  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy) {
      return;
    }
    setBusy(true);
    if (await onGrant({ name: name.trim(), role, study: study || null, byMail: canMail && byMail })) {
      setName("");
    }
    setBusy(false);
  };
  return (
    <form class="box grant" aria-label={title} onSubmit={(event) => void submit(event)}>
      <p class="grant-title">{title}</p>
      <div class="grant-fields">
        <TextField label={label} value={name} onValue={setName} required />
        <Chosen
          label="Role"
          hint={choices.find(({ value }) => value === role)?.about ?? ""}
          value={role}
          onValue={setRole}
          choices={choices}
        />
        {studies && (
          <Chosen
            label="Study"
            value={study}
            onValue={setStudy}
            choices={[
              { value: "", name: "All studies" },
              ...studies.map((one) => ({ value: one, name: one })),
            ]}
          />
        )}
      </div>
      {canMail && (
        <p class="job-tick">
          <input
            id={id}
            type="checkbox"
            checked={byMail}
            onChange={(event) => setByMail(event.currentTarget.checked)}
          />
          <label for={id}>Send the link by e-mail</label>
        </p>
      )}
      <div class="actions">
        <Button type="submit" busy={busy}>
          {action}
        </Button>
      </div>
    </form>
  );
}

interface ChosenProps {
  label: string;
  hint?: string;
  value: string;
  onValue: (value: string) => void;
  choices: readonly { value: string; name: string }[];
}

function Chosen({ label, hint, value, onValue, choices }: ChosenProps) {
  const id = useId();
  return (
    <div class="field">
      <label class="label" for={id}>
        {label}
      </label>
      <select
        id={id}
        class="input"
        value={value}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onValue(event.currentTarget.value)}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.name}
          </option>
        ))}
      </select>
      {hint !== undefined && (
        <p class="soft small" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

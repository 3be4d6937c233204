import { useId, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { TextField } from "../../design/TextField";
import type { Choice } from "./roles";

interface Props {
  title: string;
  label: string;
  choices: readonly Choice[];
  /** Those that it can be for, beside all of them; none where it is plain which one. */
  studies?: string[];
  action: string;
  onGrant: (name: string, role: string, study: string | null) => Promise<boolean>;
}

/** Asks for a name, a role and the study that it is for. */
export function Grant({ title, label, choices, studies, action, onGrant }: Props) {
  const [name, setName] = useState("");
  const [role, setRole] = useState("viewer");
  const [study, setStudy] = useState("");
  const submit = async (event: Event) => {
    event.preventDefault();
    if (await onGrant(name.trim(), role, study || null)) {
      setName("");
    }
  };
  return (
    <form class="box grant" aria-label={title} onSubmit={(event) => void submit(event)}>
      <h3>{title}</h3>
      <TextField label={label} value={name} onValue={setName} required />
      <Chosen wide label="Role" value={role} onValue={setRole} choices={choices} />
      {studies && (
        <Chosen
          label="Study"
          value={study}
          onValue={setStudy}
          choices={[["", "all studies"], ...studies.map((one) => [one, one] as const)]}
        />
      )}
      <div class="actions">
        <Button type="submit">{action}</Button>
      </div>
    </form>
  );
}

interface ChosenProps {
  label: string;
  value: string;
  onValue: (value: string) => void;
  choices: readonly Choice[];
  wide?: boolean;
}

function Chosen({ label, value, onValue, choices, wide }: ChosenProps) {
  const id = useId();
  return (
    <div class={wide ? "field field-wide" : "field"}>
      <label class="label" for={id}>
        {label}
      </label>
      <select id={id} class="input" value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        {choices.map(([each, words]) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </select>
    </div>
  );
}

import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { TextField } from "../../design/TextField";
import { beginIn } from "../studies/focus";

interface Props {
  refused: boolean;
  onToken: (token: string) => void;
  onBack: () => void;
}

/** Asks for a token. */
export function TokenForm({ refused, onToken, onBack }: Props) {
  const [token, setToken] = useState("");
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => beginIn(form.current), []);
  const submit = (event: Event) => {
    event.preventDefault();
    if (token.trim()) {
      onToken(token.trim());
    }
  };
  return (
    <form ref={form} class="sign-in" onSubmit={submit}>
      <p class="soft">Use the installation’s token, or one that an owner created for you.</p>
      <TextField
        label="Token"
        value={token}
        onValue={setToken}
        secret
        complaint={refused ? "The server does not accept this token." : ""}
      />
      <div class="actions">
        <Button type="submit">Open the desk</Button>
        <Button kind="quiet" onClick={onBack}>
          Use a password instead
        </Button>
      </div>
    </form>
  );
}

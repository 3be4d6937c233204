import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { TextField } from "../../design/TextField";

interface Props {
  refused: boolean;
  onToken: (token: string) => void;
  onBack: () => void;
}

/** Asks for a token. */
export function TokenForm({ refused, onToken, onBack }: Props) {
  const [token, setToken] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    if (token.trim()) {
      onToken(token.trim());
    }
  };
  return (
    <form class="sign-in" onSubmit={submit}>
      <p class="soft">The installation’s own token, or one that an owner has made for you.</p>
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
          Use a name and a password
        </Button>
      </div>
    </form>
  );
}

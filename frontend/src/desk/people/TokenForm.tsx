import { useState } from "preact/hooks";
import { Button } from "../../design/Button";

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
      <div class="field">
        <label class="label" for="token">
          Token
        </label>
        <input
          id="token"
          class="input"
          type="password"
          autocomplete="off"
          value={token}
          aria-invalid={refused ? "true" : undefined}
          aria-describedby="token-complaint"
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <p class="complaint" id="token-complaint" role="alert">
          {refused ? "The server does not accept this token." : ""}
        </p>
      </div>
      <div class="actions">
        <Button type="submit">Open the desk</Button>
        <Button kind="plain" onClick={onBack}>
          Use a name and a password
        </Button>
      </div>
    </form>
  );
}

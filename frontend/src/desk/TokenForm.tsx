import { useState } from "preact/hooks";
import { Button } from "../design/Button";
import { Wordmark } from "../design/Wordmark";

interface Props {
  refused: boolean;
  onToken: (token: string) => void;
}

/** Asks for the researcher's token. */
export function TokenForm({ refused, onToken }: Props) {
  const [token, setToken] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    if (token.trim()) {
      onToken(token.trim());
    }
  };
  return (
    <>
      <header class="desk-top">
        <Wordmark />
      </header>
      <main class="desk-main desk-narrow">
        <form class="box desk-token" onSubmit={submit}>
          <h1>The researcher’s desk</h1>
          <p class="soft">
            The server prints a link with your token when it starts. Open that link, or paste the token.
          </p>
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
          </div>
        </form>
      </main>
    </>
  );
}

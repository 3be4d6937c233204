import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Failed, send } from "../api";
import type { Account } from "../api_types";
import { TokenForm } from "./TokenForm";

interface Props {
  /** Why one has to sign in, where it is not plain. */
  why?: string;
  /** The token that this tab had is not accepted: ask for one again. */
  refusedToken: boolean;
  onPerson: (account: Account) => void;
  onToken: (token: string) => void;
}

/** Asks for a name and a password, or for a token. */
export function SignIn({ why, refusedToken, onPerson, onToken }: Props) {
  const [byToken, setByToken] = useState(refusedToken);
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [complaint, setComplaint] = useState("");
  if (byToken) {
    return <TokenForm refused={refusedToken} onToken={onToken} onBack={() => setByToken(false)} />;
  }
  const submit = async (event: Event) => {
    event.preventDefault();
    setComplaint("");
    try {
      onPerson((await send("POST", "/api/account/sign-in", { name, password }, "")) as Account);
    } catch (error) {
      setPassword("");
      setComplaint(error instanceof Failed ? error.message : String(error));
    }
  };
  return (
    <form class="sign-in" onSubmit={(event) => void submit(event)}>
      {why && <p>{why}</p>}
      <div class="field">
        <label class="label" for="name">
          Name
        </label>
        <input
          id="name"
          class="input"
          autocomplete="username"
          required
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </div>
      <div class="field">
        <label class="label" for="password">
          Password
        </label>
        <input
          id="password"
          class="input"
          type="password"
          autocomplete="current-password"
          required
          value={password}
          aria-invalid={complaint ? "true" : undefined}
          aria-describedby="sign-in-complaint"
          onInput={(event) => setPassword(event.currentTarget.value)}
        />
        <p class="complaint" id="sign-in-complaint" role="alert">
          {complaint}
        </p>
      </div>
      <div class="actions">
        <Button type="submit">Sign in</Button>
        <Button kind="plain" onClick={() => setByToken(true)}>
          Use a token instead
        </Button>
      </div>
    </form>
  );
}

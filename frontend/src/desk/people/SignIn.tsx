import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { TextField } from "../../design/TextField";
import { atServer } from "../../shared/site";
import { Failed, getJson, send } from "../api";
import type { Account, WaysIn } from "../api_types";
import { beginIn } from "../studies/focus";
import { TokenForm } from "./TokenForm";

interface Props {
  /** Why one has to sign in, where it is not plain. */
  why?: string;
  /** The token that this tab had is not accepted: ask for one again. */
  refusedToken: boolean;
  /** Why the browser comes back from the OpenID provider without being let in, as the server names it. */
  refusedSignIn?: string | null;
  onPerson: (account: Account) => void;
  onToken: (token: string) => void;
}

/** Asks for a name and a password, or for a token. */
export function SignIn({ why, refusedToken, refusedSignIn = null, onPerson, onToken }: Props) {
  const [byToken, setByToken] = useState(refusedToken);
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [complaint, setComplaint] = useState("");
  const { provider, refused } = useWaysIn(refusedSignIn);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => beginIn(form.current), [byToken]);
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
    <form ref={form} class="sign-in" onSubmit={(event) => void submit(event)}>
      {why && <p>{why}</p>}
      {provider && (
        <>
          {refused && (
            <p class="failure" role="alert">
              {refused}
            </p>
          )}
          <a class="button button-primary" href={atServer("/api/account/openid")}>
            Sign in with {provider}
          </a>
          <p class="or soft small">or with a password</p>
        </>
      )}
      <TextField label="Name" value={name} onValue={setName} autocomplete="username" required />
      <TextField
        label="Password"
        value={password}
        onValue={setPassword}
        secret
        autocomplete="current-password"
        required
        complaint={complaint}
      />
      <div class="actions">
        <Button kind={provider ? "secondary" : "primary"} type="submit">
          Sign in
        </Button>
        <Button kind="quiet" onClick={() => setByToken(true)}>
          Use a token instead
        </Button>
      </div>
    </form>
  );
}

/** How people sign in beside passwords. Where the server does not say, there is no other way. */
function useWaysIn(refusedSignIn: string | null): WaysIn {
  const [ways, setWays] = useState<WaysIn>({ provider: null, refused: null });
  useEffect(() => {
    const control = new AbortController();
    const query: Record<string, string> = refusedSignIn ? { refused: refusedSignIn } : {};
    getJson("/api/account/ways-in", {}, "", control.signal, query)
      .then(setWays)
      .catch(() => undefined);
    return () => control.abort();
  }, [refusedSignIn]);
  return ways;
}

import { useEffect, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Failed, send } from "../api";
import type { Account } from "../api_types";

const SHORTEST = 12;

interface Props {
  link: string;
  onPerson: (account: Account) => void;
}

/** What a one-time link leads to: its holder chooses a password; the first owner a name too. */
export function ChoosePassword({ link, onPerson }: Props) {
  // Undefined until the server has said whom the link is for; null: for the first owner.
  const [invited, setInvited] = useState<string | null>();
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [complaint, setComplaint] = useState("");
  const tell = (error: unknown) => setComplaint(error instanceof Failed ? error.message : String(error));
  useEffect(() => {
    send("POST", "/api/account/link", { link }, "")
      .then((answer) => setInvited((answer as { name: string | null }).name))
      .catch(tell);
  }, [link]);
  const submit = async (event: Event) => {
    event.preventDefault();
    setComplaint("");
    const body = { link, password, ...(invited === null ? { name } : {}) };
    try {
      onPerson((await send("PUT", "/api/account/link", body, "")) as Account);
    } catch (error) {
      tell(error);
    }
  };
  if (invited === undefined) {
    return (
      <p class={complaint ? "failure" : "soft"} role="status">
        {complaint || "Loading…"}
      </p>
    );
  }
  return (
    <form class="sign-in" onSubmit={(event) => void submit(event)}>
      {invited === null ? (
        <>
          <p>Nobody uses this installation yet: you become its owner.</p>
          <div class="field">
            <label class="label" for="name">
              Your name or e-mail address
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
        </>
      ) : (
        <>
          <p>
            You sign in as <strong>{invited}</strong>.
          </p>
          <input
            class="unseen"
            autocomplete="username"
            value={invited}
            readOnly
            tabIndex={-1}
            aria-hidden="true"
          />
        </>
      )}
      <div class="field">
        <label class="label" for="password">
          Your password, {SHORTEST} characters or more
        </label>
        <input
          id="password"
          class="input"
          type="password"
          autocomplete="new-password"
          required
          minLength={SHORTEST}
          value={password}
          aria-invalid={complaint ? "true" : undefined}
          aria-describedby="choose-complaint"
          onInput={(event) => setPassword(event.currentTarget.value)}
        />
        <p class="complaint" id="choose-complaint" role="alert">
          {complaint}
        </p>
      </div>
      <div class="actions">
        <Button type="submit">Open the desk</Button>
      </div>
    </form>
  );
}

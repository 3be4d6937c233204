import { useEffect, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { TextField } from "../../design/TextField";
import { Failed, send } from "../api";
import type { Account } from "../api_types";
import { NameForBrowser, NewPassword } from "./NewPassword";

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
          <p>This installation has no accounts yet. You become its owner.</p>
          <TextField
            label="Your name or e-mail address"
            value={name}
            onValue={setName}
            autocomplete="username"
            required
          />
        </>
      ) : (
        <>
          <p>
            You sign in as <strong>{invited}</strong>.
          </p>
          <NameForBrowser name={invited} />
        </>
      )}
      <NewPassword label="Your password" value={password} onValue={setPassword} complaint={complaint} />
      <div class="actions">
        <Button type="submit">Open the desk</Button>
      </div>
    </form>
  );
}

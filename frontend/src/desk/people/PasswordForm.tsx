import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { TextField } from "../../design/TextField";
import { Failed, send } from "../api";
import { NameForBrowser, NewPassword } from "./NewPassword";

/** Asks for the password so far and for another one. Whoever is signed in elsewhere is signed out. */
export function PasswordForm({ name, onClose }: { name: string; onClose: () => void }) {
  const [old, setOld] = useState("");
  const [chosen, setChosen] = useState("");
  const [complaint, setComplaint] = useState("");
  const [done, setDone] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    setComplaint("");
    try {
      await send("PUT", "/api/account/password", { old, new: chosen }, "");
      setDone(true);
    } catch (error) {
      setOld("");
      setComplaint(error instanceof Failed ? error.message : String(error));
    }
  };
  if (done) {
    return (
      <Dialog title="Your password is changed" onClose={onClose}>
        <p role="status">Every other browser that was signed in as {name} is signed out.</p>
        <div class="actions">
          <Button onClick={onClose}>Continue</Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Change your password" onClose={onClose}>
      <form class="sign-in" onSubmit={(event) => void submit(event)}>
        <NameForBrowser name={name} />
        <TextField
          label="Current password"
          value={old}
          onValue={setOld}
          secret
          autocomplete="current-password"
          required
          complaint={complaint}
        />
        <NewPassword label="New password" value={chosen} onValue={setChosen} />
        <div class="actions">
          <Button type="submit">Change password</Button>
          <Button kind="secondary" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

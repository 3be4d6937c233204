import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { Failed, send } from "../api";

const SHORTEST = 12;

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
          <Button onClick={onClose}>Go on</Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Change your password" onClose={onClose}>
      <form class="sign-in" onSubmit={(event) => void submit(event)}>
        <input
          class="unseen"
          autocomplete="username"
          value={name}
          readOnly
          tabIndex={-1}
          aria-hidden="true"
        />
        <div class="field">
          <label class="label" for="old-password">
            The password so far
          </label>
          <input
            id="old-password"
            class="input"
            type="password"
            autocomplete="current-password"
            required
            value={old}
            aria-invalid={complaint ? "true" : undefined}
            aria-describedby="password-complaint"
            onInput={(event) => setOld(event.currentTarget.value)}
          />
          <p class="complaint" id="password-complaint" role="alert">
            {complaint}
          </p>
        </div>
        <div class="field">
          <label class="label" for="new-password">
            Another one, {SHORTEST} characters or more
          </label>
          <input
            id="new-password"
            class="input"
            type="password"
            autocomplete="new-password"
            required
            minLength={SHORTEST}
            value={chosen}
            onInput={(event) => setChosen(event.currentTarget.value)}
          />
        </div>
        <div class="actions">
          <Button type="submit">Change it</Button>
          <Button kind="quiet" onClick={onClose}>
            Keep the old one
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { send } from "../api";
import type { Account } from "../api_types";
import { PasswordForm } from "./PasswordForm";

interface Props {
  account: Account;
  token: string;
  onSignedOut: () => void;
}

/** Who uses the page, and the ways out. */
export function WhoIsHere({ account, token, onSignedOut }: Props) {
  const [changes, setChanges] = useState(false);
  const signOut = async (path: string) => {
    if (account.kind === "person") {
      await send("POST", path, undefined, token).catch(() => undefined);
    }
    onSignedOut();
  };
  return (
    <details class="who">
      <summary>{account.kind === "installation" ? "Installation’s token" : account.name}</summary>
      <div class="box who-box">
        <ul class="soft small">
          {account.roles.map(({ role, study }) => (
            <li key={study}>
              {role} of {study ?? "all studies"}
            </li>
          ))}
        </ul>
        <Button kind="quiet" onClick={() => void signOut("/api/account/sign-out")}>
          Sign out
        </Button>
        {account.kind === "person" && (
          <>
            <Button kind="plain" onClick={() => void signOut("/api/account/sign-out-everywhere")}>
              Sign out everywhere
            </Button>
            {account.has_password && (
              <Button kind="plain" onClick={() => setChanges(true)}>
                Change password
              </Button>
            )}
          </>
        )}
      </div>
      {changes && <PasswordForm name={account.name} onClose={() => setChanges(false)} />}
    </details>
  );
}

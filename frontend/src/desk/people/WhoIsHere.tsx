import { CircleUser, Keyboard, KeyRound, LogOut, MonitorOff } from "lucide";
import { useState } from "preact/hooks";
import { Icon } from "../../design/Icon";
import { Menu, type MenuItem } from "../../design/Menu";
import { send } from "../api";
import type { Account } from "../api_types";
import { useSingleKeys } from "../keys";
import { PasswordForm } from "./PasswordForm";

interface Props {
  account: Account;
  token: string;
  onSignedOut: () => void;
}

/** Who uses the page, and the ways out. */
export function WhoIsHere({ account, token, onSignedOut }: Props) {
  const [changes, setChanges] = useState(false);
  const keys = useSingleKeys();
  const isPerson = account.kind === "person";
  const signOut = async (path: string) => {
    if (isPerson) {
      await send("POST", path, undefined, token).catch(() => undefined);
    }
    onSignedOut();
  };
  const items: MenuItem[] = [
    {
      name: `Turn ${keys.on ? "off" : "on"} single-key shortcuts`,
      icon: Keyboard,
      onChoose: () => keys.turn(!keys.on),
    },
    ...(isPerson && account.has_password
      ? [{ name: "Change password", icon: KeyRound, onChoose: () => setChanges(true) }]
      : []),
    { name: "Sign out", icon: LogOut, onChoose: () => void signOut("/api/account/sign-out") },
    ...(isPerson
      ? [
          {
            name: "Sign out everywhere",
            icon: MonitorOff,
            onChoose: () => void signOut("/api/account/sign-out-everywhere"),
          },
        ]
      : []),
  ];
  const name = account.kind === "installation" ? "Installation’s token" : account.name;
  return (
    <>
      <Menu
        label={
          <>
            <span class="account-name">{name}</span>
            <span class="account-icon">
              <Icon of={CircleUser} />
            </span>
          </>
        }
        items={items}
      >
        <p class="account-within small">{name}</p>
        <ul class="soft small roles">
          {account.roles.map(({ role, study }) => (
            <li key={study}>
              {role} of {study ?? "all studies"}
            </li>
          ))}
        </ul>
      </Menu>
      {changes && <PasswordForm name={account.name} onClose={() => setChanges(false)} />}
    </>
  );
}

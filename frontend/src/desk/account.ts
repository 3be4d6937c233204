import { createContext } from "preact";
import type { Account } from "./api_types";

export type Permission = Account["permissions"][number];

/** Who uses the page; the views ask it what to offer. */
export const AccountContext = createContext<Account | null>(null);

/** Whether somebody says who may use a study. */
export function owns(account: Account | null, study: string): boolean {
  return (
    account?.roles.some((held) => held.role === "owner" && (held.study === null || held.study === study)) ??
    false
  );
}

/** Whether somebody may do that, in some study at least. */
export function may(account: Account | null, permission: Permission): boolean {
  return account?.permissions.includes(permission) ?? false;
}

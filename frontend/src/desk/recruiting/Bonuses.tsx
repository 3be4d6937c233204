import type { BatchRow } from "../api_types";
import type { Action } from "../run/ActionDialog";
import { ActionRows } from "./ActionRows";
import { type At, amount } from "./amounts";

// `{platform}` is the name of the platform.
const STATES: Record<BatchRow["state"], string> = {
  prepared: "Prepared. Nothing is paid yet.",
  unknown: "{platform} has not answered, so it is not known whether this is paid.",
  sent: "Sent. {platform} has accepted it and pays in the next minutes.",
  paid: "Paid: seen at {platform}.",
};

interface Props {
  rows: BatchRow[];
  currency: string | null;
  platform: string;
  at: At;
  onDone: () => void;
}

/** Bonuses: prepared, then paid, once. */
export function Bonuses({ rows, currency, platform, at, onDone }: Props) {
  return (
    <ActionRows
      title="Bonuses"
      none="None yet. To prepare one, open the menu of a submission, or review several."
      rows={rows.map((row) => ({
        key: String(row.batch),
        what: `${row.purpose}: ${worthOf(row, currency)}, ${amount(row.total, currency)} with fees`,
        more: stateOf(row, platform),
        about: row.purpose,
        actions: actionsOf(row, currency, platform, at),
      }))}
      onDone={onDone}
    />
  );
}

/** How many bonuses there are, and of how much. */
export function worthOf(row: BatchRow, currency: string | null): string {
  const cents = row.bonuses.map((bonus) => bonus.cents);
  const [least, most] = [Math.min(...cents), Math.max(...cents)];
  return least === most
    ? `${cents.length} × ${amount(least, currency)}`
    : `${cents.length} bonuses of ${amount(least, null)} to ${amount(most, currency)}`;
}

/** Where bonuses stand, in words. */
export function stateOf(row: BatchRow, platform: string): string {
  const state = STATES[row.state].replaceAll("{platform}", platform);
  const seen = row.bonuses.filter((bonus) => bonus.seen_paid).length;
  const isOpen = row.state === "sent" || row.state === "unknown";
  return isOpen ? `${state} ${seen} of ${row.bonuses.length} seen paid.` : state;
}

function actionsOf(row: BatchRow, currency: string | null, platform: string, at: At): Action[] {
  const batch = { batch: String(row.batch) };
  switch (row.state) {
    case "paid":
      return [];
    case "prepared":
      return [
        {
          name: "Pay",
          about: `${platform} pays ${amount(row.total, currency)} in the next minutes, including fees. You cannot undo this.`,
          method: "POST",
          address: at("bonuses/{batch}/pay", batch),
        },
        {
          name: "Discard",
          about: "Nothing was paid, and nothing will be.",
          method: "DELETE",
          address: at("bonuses/{batch}", batch),
        },
      ];
    default:
      return [lookAt(row.batch, platform, at)];
  }
}

/** Read what became of bonuses that were sent. */
export function lookAt(batch: number, platform: string, at: At): Action {
  return {
    name: "Check now",
    about: `Read on ${platform} what these submissions were paid. Nothing is sent. If no bonus arrives within an hour, you can pay again. Ask ${platform} first, so that nobody is paid twice.`,
    method: "POST",
    address: at("bonuses/{batch}/look", { batch: String(batch) }),
  };
}

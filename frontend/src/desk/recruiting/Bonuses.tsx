import type { BatchRow } from "../api_types";
import type { Action } from "../run/ActionDialog";
import { ActionRows } from "./ActionRows";
import { type At, amount } from "./amounts";

const STATES: Record<BatchRow["state"], string> = {
  prepared: "prepared: nothing is paid yet",
  sent: "sent, and no answer came: look what became of it",
  unknown: "sent, and it is not known whether it was paid",
  paid: "paid",
};

interface Props {
  rows: BatchRow[];
  currency: string | null;
  at: At;
  onDone: () => void;
}

/** Bonuses: prepared, then paid, once. */
export function Bonuses({ rows, currency, at, onDone }: Props) {
  return (
    <ActionRows
      title="Bonuses"
      none="Choose submissions above to prepare a bonus for them."
      rows={rows.map((row) => ({
        key: String(row.batch),
        what: `${row.purpose}: ${row.bonuses.length} × ${amount(row.bonuses[0]?.cents ?? 0, currency)}, ${amount(row.total, currency)} with fees`,
        more: STATES[row.state],
        about: row.purpose,
        actions: actionsOf(row, currency, at),
      }))}
      onDone={onDone}
    />
  );
}

function actionsOf(row: BatchRow, currency: string | null, at: At): Action[] {
  const batch = { batch: String(row.batch) };
  switch (row.state) {
    case "paid":
      return [];
    case "prepared":
      return [
        {
          name: "Pay",
          about: `Prolific pays ${amount(row.total, currency)}, fees among it. This cannot be undone.`,
          method: "POST",
          address: at("bonuses/{batch}/pay", batch),
        },
        {
          name: "Take back",
          about: "Nothing was paid, and nothing will be.",
          method: "DELETE",
          address: at("bonuses/{batch}", batch),
        },
      ];
    default:
      return [
        {
          name: "Look",
          about:
            "What these submissions were paid is read at Prolific. If the bonuses are there, they are paid; if nothing is there an hour after they were sent, they are prepared again. Nothing is sent.",
          method: "POST",
          address: at("bonuses/{batch}/look", batch),
        },
      ];
  }
}

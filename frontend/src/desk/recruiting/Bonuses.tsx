import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import type { BatchRow } from "../api_types";
import { type Action, ActionDialog } from "../run/ActionDialog";
import { type At, amount } from "./amounts";

const STATES: Record<BatchRow["state"], string> = {
  prepared: "prepared: nothing is paid yet",
  sent: "sent, and no answer came: look what became of it",
  unknown: "sent, and it is not known whether it was paid",
  paid: "paid",
};

interface Props {
  rows: BatchRow[];
  at: At;
  onDone: () => void;
}

/** Bonuses: prepared, then paid, once. */
export function Bonuses({ rows, at, onDone }: Props) {
  const [chosen, setChosen] = useState<Action | null>(null);
  return (
    <section class="recruiting-part" aria-label="Bonuses">
      <h2>Bonuses</h2>
      {rows.length === 0 && <p class="soft">Choose submissions above to prepare a bonus for them.</p>}
      <ul class="differences">
        {rows.map((row) => (
          <li key={row.batch} class="box">
            <div>
              <p>
                {row.purpose}: {row.bonuses.length} × {amount(row.bonuses[0]?.cents ?? 0)},{" "}
                {amount(row.total)} with fees
              </p>
              <p class="soft small">{STATES[row.state]}</p>
            </div>
            <div class="actions">
              {actionsOf(row, at).map((action) => (
                <Button key={action.name} kind="quiet" onClick={() => setChosen(action)}>
                  {action.name}
                  <span class="unseen"> {row.purpose}</span>
                </Button>
              ))}
            </div>
          </li>
        ))}
      </ul>
      {chosen && (
        <ActionDialog
          title={chosen.name}
          action={chosen}
          onClose={() => {
            setChosen(null);
            onDone();
          }}
        />
      )}
    </section>
  );
}

function actionsOf(row: BatchRow, at: At): Action[] {
  const batch = { batch: String(row.batch) };
  switch (row.state) {
    case "paid":
      return [];
    case "prepared":
      return [
        {
          name: "Pay",
          about: `Prolific pays ${amount(row.total)}, fees among it. This cannot be undone.`,
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

import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { apiAddress } from "../api";
import type { CreditRow } from "../api_types";
import { ago } from "../format";
import { type Action, ActionDialog } from "../run/ActionDialog";

const STATES: Record<CreditRow["status"], string> = {
  due: "not asked for yet",
  granted: "granted",
  refused: "not granted",
  unreachable: "SONA was not reached, and is asked again",
};

interface Props {
  run: string;
  rows: CreditRow[];
  onDone: () => void;
}

/** Credits that the server asks SONA for: those that are not granted, with the reason. */
export function Credits({ run, rows, onDone }: Props) {
  const [chosen, setChosen] = useState<Action | null>(null);
  const open = rows.filter((row) => row.status !== "granted");
  const refused = rows.filter((row) => row.status === "refused").length;
  return (
    <section class="recruiting-part" aria-label="Credits">
      <h2>Credits at SONA</h2>
      <p>
        {rows.length - open.length} of {rows.length} who have handed in have their credit.
      </p>
      <ul class="differences">
        {open.map((row) => (
          <li key={row.worker} class="box">
            <div>
              <p>
                {row.worker}: {STATES[row.status]}
              </p>
              <p class="soft small">
                {row.reason} {row.tried_at && `Asked ${ago(row.tried_at)}.`}
              </p>
            </div>
          </li>
        ))}
      </ul>
      {refused > 0 && (
        <Button kind="quiet" onClick={() => setChosen(again(run, refused))}>
          Ask again for {refused}
        </Button>
      )}
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

function again(run: string, refused: number): Action {
  return {
    name: `Ask again for ${refused}`,
    about: "SONA is asked within half a minute. Nobody gets a credit twice.",
    method: "POST",
    address: apiAddress("/api/desk/runs/{run}/credits/again", { run }),
  };
}

import { apiAddress } from "../api";
import type { CreditRow } from "../api_types";
import { ago } from "../format";
import type { Action } from "../run/ActionDialog";
import { ActionRows } from "./ActionRows";

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
  const open = rows.filter((row) => row.status !== "granted");
  const refused = rows.filter((row) => row.status === "refused").length;
  return (
    <ActionRows
      title="Credits at SONA"
      summary={`${rows.length - open.length} of ${rows.length} who have submitted have their credit.`}
      none="Nobody waits for a credit."
      rows={open.map((row) => ({
        key: row.worker,
        what: `${row.worker}: ${STATES[row.status]}`,
        more: (
          <>
            {row.reason} {row.tried_at && `Asked ${ago(row.tried_at)}.`}
          </>
        ),
        about: row.worker,
        actions: [],
      }))}
      ofAll={refused > 0 ? [again(run, refused)] : []}
      onDone={onDone}
    />
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

import type { RecruitmentCost, RecruitmentDetail } from "../api_types";
import { amount } from "./amounts";
import { countsOf } from "./states";

interface Props {
  found: RecruitmentDetail;
  cost: RecruitmentCost | null;
  platform: string;
}

/** How many submissions there are of each kind, and what the study costs: so far, and still to come. */
export function Totals({ found, cost, platform }: Props) {
  return (
    <>
      <dl class="figures">
        {countsOf(found.submissions, found.places).map(([name, count]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{count}</dd>
          </div>
        ))}
      </dl>
      <p class="soft">
        {cost === null ? (
          `Asking ${platform} for the cost…`
        ) : (
          <>
            Cost so far <b>{amount(cost.spent.total, cost.currency)}</b>, up to{" "}
            <b>{amount(Math.max(0, cost.projected.total - cost.spent.total), cost.currency)}</b> to come.
            Includes {platform}’s fee and tax.
          </>
        )}
      </p>
    </>
  );
}

import type { RecruitmentCost, RecruitmentDetail } from "../api_types";
import { useFetched } from "../fetched";
import { amount } from "./amounts";

/** What a study costs as the platform says, asked again whenever something was paid or published. */
export function useCost(run: string, found: RecruitmentDetail): RecruitmentCost | null {
  const paid = found.submissions.map((row) => `${row.status}${row.paid_share}${row.bonus_paid}`);
  const version = [found.study, found.status, found.places, ...paid].join(" ");
  return useFetched("/api/desk/runs/{run}/recruitment/cost", { run }, version).data;
}

/** Lines of an account, the last of which is the total. */
export function Account({ lines }: { lines: readonly (readonly [name: string, value: string])[] }) {
  return (
    <dl class="account">
      {lines.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The lines of a cost: rewards, bonuses, fees, and all of them. */
export function linesOf(cost: RecruitmentCost, platform: string): [string, string][] {
  const { rewards, bonuses, fees, total } = cost.projected;
  return [
    ["Rewards", amount(rewards, cost.currency)],
    ...(bonuses > 0 ? ([["Bonuses", amount(bonuses, cost.currency)]] as [string, string][]) : []),
    [`${platform}’s fee and tax`, amount(fees, cost.currency)],
    ["Total", amount(total, cost.currency)],
  ];
}

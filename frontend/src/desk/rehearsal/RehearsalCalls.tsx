import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { Skeleton } from "../../design/Skeleton";
import { Table } from "../../design/Table";
import type { RehearsalPlan } from "../api_types";
import { useFetched } from "../fetched";
import "./rehearsal.css";

interface Props {
  /** Where the plan is to be had, and what is put into the path. */
  path: "/api/desk/runs/{run}/rehearsal-plan" | "/api/desk/studies/{study}/rehearsal-plan";
  values: Record<string, string>;
  workers: number;
  onBegin: () => void;
  onClose: () => void;
}

/** Asks before a rehearsal begins: which bots it calls, how often, and what that costs. */
export function RehearsalCalls({ path, values, workers, onBegin, onClose }: Props) {
  const { data, failure } = useFetched(path, values, workers, { workers: String(workers) });
  return (
    <Dialog title="Rehearse?" onClose={onClose}>
      {failure ? (
        <p class="failure" role="alert">
          {failure}
        </p>
      ) : data === null ? (
        <Skeleton lines={4} />
      ) : (
        <Calls plan={data} />
      )}
      <div class="actions">
        <Button kind="secondary" onClick={onClose}>
          Cancel
        </Button>
        <Button
          off={data === null || failure !== null}
          onClick={() => {
            onClose();
            onBegin();
          }}
        >
          Rehearse
        </Button>
      </div>
    </Dialog>
  );
}

type BotCalls = RehearsalPlan["bots"][number];

function Calls({ plan: { workers, bots } }: { plan: RehearsalPlan }) {
  const unknown = bots.filter(({ cost }) => cost === null);
  return (
    <>
      <p>
        {workers} simulated workers chat with the study’s bots. Nothing has been called yet. The rehearsal
        makes about {number(sum(bots, "calls"))} calls:
      </p>
      <Table
        label="Table of planned calls"
        columns={[{ name: "Bot" }, { name: "Calls", kind: "number" }, { name: "Cost", kind: "number" }]}
      >
        {bots.map((bot) => (
          <tr key={bot.bot}>
            <th scope="row">
              <code>{bot.bot}</code>
              <span class="soft small block">{[place(bot), price(bot)].filter(Boolean).join(" · ")}</span>
            </th>
            <td class="number">{number(bot.calls)}</td>
            <td class="number">
              {bot.cost === null ? "unknown" : bot.cost === 0 ? "free" : money(bot.cost)}
            </td>
          </tr>
        ))}
        <tr class="calls-total">
          <th scope="row">Total</th>
          <td class="number">{number(sum(bots, "calls"))}</td>
          <td class="number">{total(bots)}</td>
        </tr>
      </Table>
      <p class="soft small">
        Calls and tokens are estimates, for conversations of the shortest length that the study allows. Costs
        are in the currency of the bots’ prices.
      </p>
      {unknown.length > 0 && (
        <p class="small">
          No price is set for {unknown.map(({ bot }) => bot).join(", ")}, and the provider may charge. Set the
          bot’s price to see what it costs.
        </p>
      )}
    </>
  );
}

/** Where a bot answers. */
function place({ bot, hosts }: BotCalls): string {
  const builtin = bot === "qc" || bot.startsWith("builtin:");
  return builtin ? "on this server" : hosts.length > 0 ? hosts.join(", ") : "registered";
}

/** The price of a million tokens, sent and written; empty where a bot is free. */
function price(bot: BotCalls): string {
  if (bot.price === null) {
    return bot.cost === null ? "no price set" : "";
  }
  return `${bot.price.input} in, ${bot.price.output} out for a million tokens`;
}

function total(bots: BotCalls[]): string {
  const known = sum(bots, "cost");
  const some = known > 0 ? money(known) : "";
  if (bots.some(({ cost }) => cost === null)) {
    return some ? `${some} + unknown` : "unknown";
  }
  return some || "free";
}

function sum(bots: BotCalls[], what: "calls" | "cost"): number {
  return bots.reduce((before, bot) => before + (bot[what] ?? 0), 0);
}

function money(cost: number): string {
  return cost >= 0.01 ? cost.toFixed(2) : "< 0.01";
}

function number(count: number): string {
  return count.toLocaleString("en-GB");
}

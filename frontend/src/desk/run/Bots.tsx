import { Badge } from "../../design/Badge";
import { Table } from "../../design/Table";
import type { BotReplies } from "../api_types";
import { latency } from "../format";

const COLUMNS = [
  { name: "Bot" },
  { name: "Health" },
  { name: "Replies", kind: "number" },
  { name: "Median", kind: "number" },
  { name: "Slowest 5\u00a0%", kind: "number" },
  { name: "Typing floor", kind: "number" },
  { name: "Late", kind: "number" },
  { name: "Failed tries", kind: "number" },
  { name: "Offensive", kind: "number" },
] as const;

/** How the bots do: whether they answer, how fast against the typing-time floor, and what failed. */
export function Bots({ bots }: { bots: BotReplies[] }) {
  return (
    bots.length > 0 && (
      <section aria-labelledby="bots">
        <div class="section-head">
          <h2 id="bots">Bots</h2>
          <p class="soft small">
            {bots.some(isPaced)
              ? "If a bot’s slowest 5 % of replies stay below the typing floor, workers can’t recognise it by its speed."
              : "The study shows replies without delay, so workers can recognise a bot by its speed."}
          </p>
        </div>
        <Table label="Table of bots" columns={COLUMNS} cards>
          {bots.map((bot) => (
            <tr key={bot.system}>
              <th scope="row">
                {bot.system}
                {bot.bot !== bot.system && <span class="soft small block">{bot.bot}</span>}
              </th>
              <td data-name="Health">
                <Health bot={bot} />
              </td>
              <td data-name="Replies" class="number">
                {bot.replies}
              </td>
              <td data-name="Median" class="number">
                {latency(bot.p50_ms)}
              </td>
              <td data-name={"Slowest 5\u00a0%"} class={isSlow(bot) ? "number poor" : "number"}>
                {latency(bot.p95_ms)}
              </td>
              <td data-name="Typing floor" class="number">
                {isPaced(bot) ? latency(bot.floor_ms) : "–"}
              </td>
              <td data-name="Late" class={isPaced(bot) && bot.late > 0 ? "number poor" : "number"}>
                {isPaced(bot) ? bot.late : "–"}
              </td>
              <td data-name="Failed tries" class="number">
                {failedOf(bot)}
              </td>
              <td data-name="Offensive" class={bot.offensive + bot.flagged > 0 ? "number poor" : "number"}>
                {offensiveOf(bot)}
              </td>
            </tr>
          ))}
        </Table>
      </section>
    )
  );
}

/** How many replies have words of the lists, and how many the classifier flags: a reply can be both. */
function offensiveOf({ offensive, flagged }: BotReplies): string {
  return flagged === 0 ? `${offensive}` : `${offensive} by words, ${flagged} by classifier`;
}

/** Whether the study delays replies; without a delay no reply is slow or late. */
function isPaced(bot: BotReplies): boolean {
  return bot.floor_ms > 0;
}

function isSlow(bot: BotReplies): boolean {
  return isPaced(bot) && bot.p95_ms !== null && bot.p95_ms > bot.floor_ms;
}

function failedOf({ failed_tries }: BotReplies): string {
  const kinds = Object.entries(failed_tries);
  return kinds.length === 0 ? "0" : kinds.map(([kind, count]) => `${count} ${kind}`).join(", ");
}

/** Whether a bot answers: by its replicas where it has some, and by its latest tries. */
function Health({ bot }: { bot: BotReplies }) {
  const fine = bot.replicas.fine ?? 0;
  const replicas = fine + (bot.replicas.failing ?? 0) + (bot.replicas.resting ?? 0);
  const down = bot.failing > 0 || (replicas > 0 && fine === 0);
  return (
    <>
      <Badge kind={down ? "failed" : bot.replies > 0 ? "good" : "plain"}>
        {bot.failing > 0
          ? `${bot.failing} failed in a row`
          : down
            ? "away"
            : bot.replies > 0
              ? "answers"
              : "not asked yet"}
      </Badge>
      {replicas > 0 && (
        <span class="soft small block">
          {fine} of {replicas} replicas fine
        </span>
      )}
    </>
  );
}

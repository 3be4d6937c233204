"""Sum the cost of bot calls by run and bot, in the transactions that store them.

Every process reads these sums before it asks a bot with a spending cap, so that caps hold over all processes.
Calls in progress when a cap is reached are paid all the same. `differences` sums again from the rows.
"""

from sqlalchemy import Connection, text

from server.db.engine.bulk import Bulk, Kind

COUNT_COST = Bulk(
    """
    INSERT INTO spending (run_id, bot_id, cost)
    SELECT assignment.run_id, system.bot_id, sum(given.cost)
    FROM {rows} AS given
    JOIN conversation ON conversation.id = given.key
    JOIN system ON system.id = conversation.system_id
    JOIN assignment ON assignment.id = conversation.assignment_id
    WHERE true GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (run_id, bot_id) DO UPDATE SET cost = spending.cost + excluded.cost""",
    key=Kind.TEXT,
    cost=Kind.REAL,
)
_OF_RUN = text("SELECT coalesce(sum(cost), 0) FROM spending WHERE run_id = :run")
_OF_BOT = text("""
    SELECT coalesce(sum(spending.cost), 0) FROM spending JOIN bot ON bot.id = spending.bot_id
    WHERE bot.spec = :bot AND (spending.run_id = :run OR :run IS NULL)""")
_ANEW = text("""
    SELECT assignment.run_id, system.bot_id, sum(bot_call.cost)
    FROM bot_call
    JOIN conversation ON conversation.id = bot_call.conversation_id
    JOIN system ON system.id = conversation.system_id
    JOIN assignment ON assignment.id = conversation.assignment_id
    WHERE bot_call.cost IS NOT NULL GROUP BY 1, 2""")
_KEPT = text("SELECT run_id, bot_id, cost FROM spending")


def spent_by_run(connection: Connection, run_id: int) -> float:
    """Return the cost of all bots of a run, for people and simulated workers."""
    return float(connection.execute(_OF_RUN, {"run": run_id}).scalar_one())


def spent_by_bot(connection: Connection, bot: str, run_id: int | None) -> float:
    """Return the cost of the bot that studies name `bot`, in a run; in all runs if None."""
    return float(connection.execute(_OF_BOT, {"bot": bot, "run": run_id}).scalar_one())


def differences(connection: Connection) -> list[str]:
    """Sum everything again; return sentences about wrong sums, none if all are right."""
    anew = {(run, bot): float(cost) for run, bot, cost in connection.execute(_ANEW)}
    kept = {(run, bot): float(cost) for run, bot, cost in connection.execute(_KEPT)}
    return [
        f"run {run}, bot {bot}: calls cost {anew.get((run, bot), 0):g}, {kept.get((run, bot), 0):g} counted"
        for run, bot in sorted(anew.keys() | kept.keys())
        if abs(anew.get((run, bot), 0) - kept.get((run, bot), 0)) > 1e-6
    ]

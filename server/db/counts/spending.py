"""Sum the cost of bot calls by run and bot, in the transactions that store them.

Whoever asks a bot with a spending cap reads these sums first, in whichever process, so that caps hold over
all of them. What is under way when a cap is reached is paid all the same. `differences` counts anew.
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
    """Return what all bots of a run have cost in it, for people and simulated workers."""
    return float(connection.execute(_OF_RUN, {"run": run_id}).scalar_one())


def spent_by_bot(connection: Connection, bot: str, run_id: int | None) -> float:
    """Return what the bot that studies name `bot` has cost in a run; None: in all runs."""
    return float(connection.execute(_OF_BOT, {"bot": bot, "run": run_id}).scalar_one())


def differences(connection: Connection) -> list[str]:
    """Count everything anew; return in words where what is kept differs, nothing where it agrees."""
    anew = {(run, bot): float(cost) for run, bot, cost in connection.execute(_ANEW)}
    kept = {(run, bot): float(cost) for run, bot, cost in connection.execute(_KEPT)}
    return [
        f"run {run}, bot {bot}: calls cost {anew.get((run, bot), 0):g}, {kept.get((run, bot), 0):g} counted"
        for run, bot in sorted(anew.keys() | kept.keys())
        if abs(anew.get((run, bot), 0) - kept.get((run, bot), 0)) > 1e-6
    ]

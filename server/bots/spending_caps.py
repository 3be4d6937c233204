"""Spending caps of a run's bots and of its study: read them, and say whether one is reached."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection

from server.db.counts.spending import spent_by_bot, spent_by_run


@dataclass(frozen=True, slots=True)
class SpendingCap:
    """What may be spent at most, in the money of the bots' prices.

    `bot`: on which bot, as studies name it; None: on all bots of the run together. `run_id`: in which run;
    None: in all runs.
    """

    most: float
    bot: str | None
    run_id: int | None

    def spent(self, connection: Connection) -> float:
        """Return what has been spent of it."""
        if self.bot is not None:
            return spent_by_bot(connection, self.bot, self.run_id)
        return 0.0 if self.run_id is None else spent_by_run(connection, self.run_id)


def first_reached(connection: Connection, caps: Iterable[SpendingCap]) -> str | None:
    """Return, in words, the first of `caps` that is reached; None: there is money left in all of them."""
    for cap in caps:
        spent = cap.spent(connection)
        if spent >= cap.most:
            whose = "the study" if cap.bot is None else f"the bot `{cap.bot}`"
            return f"the spending cap of {whose} is reached: {spent:,.2f} of {cap.most:,.2f} are spent"
    return None

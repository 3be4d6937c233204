"""Runs that have enough stop by themselves, and say why."""

from collections.abc import Mapping
from dataclasses import dataclass

import structlog
from sqlalchemy import Connection, select

from server.bots.lineup import OpenRun
from server.db.audit import record
from server.db.runs import run_rules
from server.db.runs.run_states import stop_run
from server.db.runs.runs import lock_run
from server.db.store.store import Store
from server.db.tables import Run
from server.live.arrive.admission import standing_of
from server.news import News
from server.periodic import PeriodicTask
from server.run_rules import End, end_of

SECONDS = 1.0  # between two looks
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Rules:
    """Who has stopped a run that nobody has stopped, for the log."""

    kind: str = "server"
    name: str = "rules of the run"


class RunEnds:
    """Looks again and again whether a run has enough. Every process does; the first one stops it.

    Newcomers do not wait for that: who arrives is told at once, as arrivals go by the same decision.

    Args:
        store: where the runs are.
        runs: the runs that this process serves.
        news: where other processes are told that a run has stopped.
    """

    def __init__(self, store: Store, runs: Mapping[int, OpenRun], news: News) -> None:
        self._store = store
        self._runs = runs
        self._news = news
        self._task = PeriodicTask(self.look, SECONDS, "runs were not looked at")

    def start(self) -> None:
        """Begin to look."""
        self._task.start()

    async def close(self) -> None:
        """Look no more; a look that is under way comes to its end."""
        await self._task.stop()

    async def look(self) -> None:
        """Stop what has enough. Raises StorageFailed."""
        runs = tuple(self._runs.values())
        for run in await self._store.read(lambda connection: _ended(connection, runs)):
            end = await self._store.submit(lambda connection, run=run: _stop(connection, run))  # type: ignore[misc]
            if end is not None:
                log.info("run has stopped", run=run.slug, reason=end.reason)
                self._news.publish("runs", {})


def _ended(connection: Connection, runs: tuple[OpenRun, ...]) -> list[OpenRun]:
    """Return those of `runs` that have enough and are not closed."""
    going_on = set(connection.execute(select(Run.c.id).where(Run.c.status != "closed")).scalars())
    return [run for run in runs if run.id in going_on and _end(connection, run) is not None]


def _end(connection: Connection, run: OpenRun) -> End | None:
    rules = run_rules.rules_of(connection, run.id)
    return end_of(rules, standing_of(connection, run, rules))


def _stop(connection: Connection, run: OpenRun) -> End | None:
    """Close a run that has enough; None: its rules have changed meanwhile, or it is closed already."""
    lock_run(connection, run.id)
    end = _end(connection, run)
    if end is None or not stop_run(connection, run.id, end):
        return None
    record(connection, _Rules(), "run.close", run.slug, end.reason)
    return end

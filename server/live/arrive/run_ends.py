"""Stop runs that have enough data or have reached a limit, and store the reason."""

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
from server.db.tables import RunTable
from server.live.arrive.admission import standing_of
from server.news import News
from server.periodic import PeriodicTask
from server.run_rules import RunEnd, end_of

SECONDS = 1.0  # between two checks
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Rules:
    """The actor in the audit log when a run's rules stop it."""

    kind: str = "server"
    name: str = "rules of the run"


class RunEnds:
    """Check periodically whether runs have ended. All processes check; the first to see it closes the run.

    Newcomers do not wait for this check: each arrival applies the same rules.

    Args:
        store: The database.
        runs: The runs that this process serves.
        news: Tells other processes that a run has stopped.
    """

    def __init__(self, store: Store, runs: Mapping[int, OpenRun], news: News) -> None:
        self._store = store
        self._runs = runs
        self._news = news
        self._task = PeriodicTask(self.look, SECONDS, "runs were not looked at")

    def start(self) -> None:
        """Start checking."""
        self._task.start()

    async def close(self) -> None:
        """Stop checking, after a check in progress has ended."""
        await self._task.stop()

    async def look(self) -> None:
        """Stop the runs that have ended by their rules. Raises StorageFailed."""
        runs = tuple(self._runs.values())
        for run in await self._store.read(lambda connection: _ended(connection, runs)):
            end = await self._store.submit(lambda connection, run=run: _stop(connection, run))  # type: ignore[misc]
            if end is not None:
                log.info("run has stopped", run=run.slug, reason=end.reason)
                self._news.publish("runs", {})


def _ended(connection: Connection, runs: tuple[OpenRun, ...]) -> list[OpenRun]:
    """Return those of `runs` that have ended by their rules and are not closed."""
    going_on = set(connection.execute(select(RunTable.c.id).where(RunTable.c.status != "closed")).scalars())
    return [run for run in runs if run.id in going_on and _end(connection, run) is not None]


def _end(connection: Connection, run: OpenRun) -> RunEnd | None:
    rules = run_rules.rules_of(connection, run.id)
    return end_of(rules, standing_of(connection, run, rules))


def _stop(connection: Connection, run: OpenRun) -> RunEnd | None:
    """Close a run that has ended; None if its rules have changed meanwhile, or it is closed already."""
    lock_run(connection, run.id)
    end = _end(connection, run)
    if end is None or not stop_run(connection, run.id, end):
        return None
    record(connection, _Rules(), "run.close", run.slug, end.reason)
    return end

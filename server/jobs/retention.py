"""Remove expired data: words and ids of workers of closed runs, and exports."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import structlog
from sqlalchemy import Connection, select

from server.clock import utc_now
from server.db.audit import record
from server.db.engine import alone
from server.db.removal import clear_list, remove, remove_id
from server.db.runs.runs import RunEntry, all_runs
from server.db.secrets import FORGOTTEN
from server.db.store import Store
from server.db.tables import AssignmentTable, ExcludedWorkerTable, RemovalTable, WorkerTable
from server.jobs.exports import KeptExports
from server.periodic import PeriodicTask
from server.study import parse_study
from server.study.sections import Retention

SECONDS = 3600.0  # between runs of the job
_AT_ONCE = 100  # assignments per transaction, so that sessions do not wait
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Settings:
    """The actor of this job in the audit log."""

    kind: str = "server"
    name: str = "retention of the study"


class RetentionJob:
    """Removes expired data periodically. Every process runs it; each item is removed once.

    Args:
        store: the database.
        exports: the exports on this machine.
        now: returns the current time.
    """

    def __init__(self, store: Store, exports: KeptExports, now: Callable[[], datetime] = utc_now) -> None:
        self._store = store
        self._exports = exports
        self._now = now
        self._retention_of = _known_retention()
        self._task = PeriodicTask(self.look, SECONDS, "what is over its time was not removed")

    def start(self) -> None:
        """Start the periodic job."""
        self._task.start()

    async def close(self) -> None:
        """Stop the job after its current run."""
        await self._task.stop()

    async def look(self) -> None:
        """Remove expired data. Raises StorageFailed."""
        at, retention_of = self._now(), self._retention_of
        while not self._task.stopping and await self._store.read(lambda c: bool(_due(c, at, retention_of))):
            await self._store.remove(lambda connection: _remove(connection, self._now(), retention_of))
        await self._exports.remove_old(at)


@dataclass(frozen=True, slots=True)
class _OverTime:
    """The expired data of a run: assignments whose words expired, and workers whose ids expired.

    `has_list`: the run's list of excluded workers expired.
    """

    run: RunEntry
    assignments: list[str]
    workers: list[int]
    has_list: bool


_RetentionOf = Callable[[RunEntry], Retention | None]


def _known_retention() -> _RetentionOf:
    """Return a function from a run to its retention.

    It parses each study once, because studies never change.
    """
    known: dict[int, Retention | None] = {}

    def retention_of(run: RunEntry) -> Retention | None:
        if run.id not in known:
            known[run.id] = parse_study(run.yaml).retention
        return known[run.id]

    return retention_of


def _due(connection: Connection, at: datetime, retention_of: _RetentionOf) -> list[_OverTime]:
    """Return the expired data, limited to the size of one transaction."""
    runs = all_runs(connection)
    words = {run.id for run in runs if _is_over(run, Retention.words_end, at, retention_of)}
    ids = {run.id for run in runs if _is_over(run, Retention.ids_end, at, retention_of)}
    kept_ids = [run.id for run in runs if run.id not in ids]
    found = (
        _OverTime(
            run,
            _with_words(connection, run) if run.id in words else [],
            _with_ids(connection, run, kept_ids) if run.id in ids else [],
            run.id in ids and _has_list(connection, run),
        )
        for run in runs
        if run.id in words | ids
    )
    return [one for one in found if one.assignments or one.workers or one.has_list]


def _remove(connection: Connection, at: datetime, retention_of: _RetentionOf) -> None:
    alone(connection, "retention")
    for over in _due(connection, at, retention_of)[:1]:
        removed = []
        if over.assignments:
            remove(connection, over.assignments, "words", "retention", at)
            removed.append(f"words of {len(over.assignments)} assignments")
        for worker in over.workers:
            remove_id(connection, worker)
        if over.workers:
            removed.append(f"ids of {len(over.workers)} workers")
        if over.has_list:
            number = clear_list(connection, over.run.id)
            removed.append(f"its list of {number} who might not come")
        for what in removed:
            record(connection, _Settings(), "run.retention", over.run.slug, what)
        log.info("removed after its time", run=over.run.slug)


def _is_over(
    run: RunEntry,
    end_of: Callable[[Retention, datetime | None], datetime | None],
    at: datetime,
    retention_of: _RetentionOf,
) -> bool:
    retention = retention_of(run) if run.status == "closed" else None
    end = None if retention is None else end_of(retention, run.closed_at)
    return end is not None and end <= at


def _with_words(connection: Connection, run: RunEntry) -> list[str]:
    query = (
        select(AssignmentTable.c.id)
        .outerjoin(RemovalTable, RemovalTable.c.assignment_id == AssignmentTable.c.id)
        .where(AssignmentTable.c.run_id == run.id, RemovalTable.c.assignment_id.is_(None))
        .order_by(AssignmentTable.c.id)
        .limit(_AT_ONCE)
    )
    return list(connection.execute(query).scalars())


def _with_ids(connection: Connection, run: RunEntry, kept_ids: list[int]) -> list[int]:
    """Return workers of a run with an id that no other run needs."""
    needed = select(AssignmentTable.c.worker_id).where(AssignmentTable.c.run_id.in_(kept_ids))
    query = (
        select(WorkerTable.c.id)
        .join(AssignmentTable, AssignmentTable.c.worker_id == WorkerTable.c.id)
        .where(AssignmentTable.c.run_id == run.id, WorkerTable.c.id.not_in(needed))
        .where(~WorkerTable.c.external_id.startswith(FORGOTTEN))
        .order_by(WorkerTable.c.id)
        .distinct()
        .limit(_AT_ONCE)
    )
    return list(connection.execute(query).scalars())


def _has_list(connection: Connection, run: RunEntry) -> bool:
    query = select(ExcludedWorkerTable.c.run_id).where(ExcludedWorkerTable.c.run_id == run.id).limit(1)
    return connection.execute(query).first() is not None

"""Store background jobs, and leases, which let only one process at a time do a job."""

import asyncio
import json
import secrets
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    text,
    update,
)

from server.clock import utc_now
from server.db.store import Store
from server.db.tables import AssignmentTable, JobLeaseTable, JobTable, RemovalTable, RunTable
from server.errors import JobNotFound, JobUnderWay

JobKind = Literal["report", "rehearsal", "export"]
JobStatus = Literal["running", "done", "failed", "cancelled"]
LEASE_SECONDS = 30.0
# After a removal, data read earlier may still be in use for so long. The removal's time is taken in its
# transaction, which others see only after its end, and machines' clocks differ.
_READ_WITHIN = timedelta(seconds=30)
_ENDED = "The server that did this has ended before it was done. Start it again."
_TAKE = text("""
    INSERT INTO job_lease (name, holder, until) VALUES (:name, :holder, :until)
    ON CONFLICT (name) DO UPDATE SET holder = :holder, until = :until
    WHERE job_lease.holder = :holder OR job_lease.until < :at""").bindparams(
    bindparam("until", type_=JobLeaseTable.c.until.type), bindparam("at", type_=JobLeaseTable.c.until.type)
)


@dataclass(frozen=True, slots=True)
class JobEntry:
    """A job. `run` is the name of the run that it is about; `result` is None until it is done."""

    id: str
    kind: JobKind
    run: str
    status: JobStatus
    options: Mapping[str, Any]
    created_at: datetime
    ended_at: datetime | None
    step: str
    done: int
    total: int
    error: str | None
    result: Mapping[str, Any] | None


def take_lease(
    connection: Connection, name: str, holder: str, at: datetime, seconds: float = LEASE_SECONDS
) -> bool:
    """Take or renew the lease `name` for so many seconds; return whether `holder` has it now."""
    until = at + timedelta(seconds=seconds)
    values = {"name": name, "holder": holder, "until": until, "at": at}
    return connection.execute(_TAKE, values).rowcount == 1


def release_lease(connection: Connection, holder: str) -> None:
    """Release all leases of `holder`."""
    connection.execute(delete(JobLeaseTable).where(JobLeaseTable.c.holder == holder))


class Lease:
    """A process's exclusive right to do something, as long as it is renewed.

    Args:
        store: Stores who has the lease.
        name: The name of the work.
        now: Returns the time.
        renewed_every: Seconds between renewals, fewer than a lease lasts.
    """

    def __init__(
        self,
        store: Store,
        name: str,
        now: Callable[[], datetime] = utc_now,
        renewed_every: float = LEASE_SECONDS / 3,
    ) -> None:
        self._store = store
        self._name = name
        self._now = now
        self._renewed_every = renewed_every
        self._holder = secrets.token_hex(8)

    async def work_alone(self, work: Callable[[], Coroutine[Any, Any, None]], pause: float = 0.0) -> None:
        """Run `work`, unless another process does; cancel it if the lease is lost meanwhile.

        Args:
            work: The work.
            pause: For how many seconds after its end no other process may do it again.

        Raises:
            StorageFailed: The database could not tell who has the lease.
            Exception: Anything that `work` raises; then there is no pause.
        """
        if not await self.take():
            return
        working = asyncio.create_task(work())
        try:
            while not working.done():
                await asyncio.wait({working}, timeout=self._renewed_every)
                if not working.done() and not await self.take():
                    return
            await working
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
        if pause:
            await self.take(pause)

    async def take(self, seconds: float = LEASE_SECONDS) -> bool:
        """Take or renew the lease for so many seconds; return whether this process has it now.

        Work that must not be cancelled calls this before each step. Raises StorageFailed.
        """
        return await self._store.submit(
            lambda c: take_lease(c, self._name, self._holder, self._now(), seconds)
        )

    async def release(self) -> None:
        """Release the lease, so that another process can take it. Raises StorageFailed."""
        await self._store.submit(lambda connection: release_lease(connection, self._holder))


def begin_job(
    connection: Connection,
    job: str,
    kind: JobKind,
    run_id: int,
    subject: str,
    options: Mapping[str, Any],
    at: datetime,
) -> None:
    """Store a job that begins now.

    Args:
        connection: A transaction.
        job: The job's id.
        kind: The kind of job.
        run_id: The run that it is about.
        subject: The subject; only one job of this kind and subject may run at a time.
        options: The job's options; must be JSON values.
        at: The time now.

    Raises:
        JobUnderWay: Another such job is running.
    """
    if not take_lease(connection, f"{kind} {subject}", job, at):
        raise JobUnderWay(f"A {kind} of “{subject}” is under way")
    values = {"id": job, "kind": kind, "run_id": run_id, "status": "running", "created_at": at}
    connection.execute(
        insert(JobTable).values(**values, options=json.dumps(options), step="", done=0, total=0)
    )


def note_progress(connection: Connection, job: str, step: str, done: int, total: int, at: datetime) -> bool:
    """Store a job's progress and extend its lease; return whether the job is still wanted."""
    under_way = update(JobTable).where(JobTable.c.id == job, JobTable.c.status == "running")
    if connection.execute(under_way.values(step=step, done=done, total=total)).rowcount == 0:
        return False
    until = at + timedelta(seconds=LEASE_SECONDS)
    connection.execute(update(JobLeaseTable).where(JobLeaseTable.c.holder == job).values(until=until))
    return True


def end_job(
    connection: Connection,
    job: str,
    status: JobStatus,
    at: datetime,
    error: str | None = None,
    result: Mapping[str, Any] | None = None,
) -> None:
    """Store the end of a job, and release its lease so that the next one can begin."""
    kept = None if result is None else json.dumps(result)
    ended = update(JobTable).where(JobTable.c.id == job, JobTable.c.status == "running")
    connection.execute(ended.values(status=status, ended_at=at, error=error, result=kept))
    release_lease(connection, job)


def end_abandoned(connection: Connection, at: datetime) -> None:
    """Mark jobs whose process is gone as failed."""
    alive = select(JobLeaseTable.c.holder).where(JobLeaseTable.c.until >= at)
    gone = update(JobTable).where(JobTable.c.status == "running", JobTable.c.id.not_in(alive))
    connection.execute(gone.values(status="failed", ended_at=at, error=_ENDED))


def find_job(connection: Connection, job: str) -> JobEntry:
    """Return a job. Raises JobNotFound."""
    found = _entries(connection, _jobs().where(JobTable.c.id == job))
    if not found:
        raise JobNotFound(f"There is no job “{job}”")
    return found[0]


def jobs_of(connection: Connection, kind: JobKind, run_ids: Sequence[int]) -> list[JobEntry]:
    """Return the jobs of a kind about any of these runs, newest first."""
    return _entries(connection, _jobs().where(JobTable.c.kind == kind, JobTable.c.run_id.in_(run_ids)))


def exports_over(connection: Connection, before: datetime) -> list[str]:
    """Return the exports begun before `before`, and those that may contain data removed since."""
    over = or_(JobTable.c.created_at < before, JobTable.c.id.in_(_outdated(connection)))
    query = select(JobTable.c.id).where(JobTable.c.kind == "export", JobTable.c.status != "running", over)
    return list(connection.execute(query).scalars())


def is_outdated(connection: Connection, job: str) -> bool:
    """Return whether an export may contain removed data of a worker of its run."""
    return job in _outdated(connection, JobTable.c.id == job)


def exports_of(connection: Connection, run_id: int) -> list[JobEntry]:
    """Return the exports of a run, newest first, without those that may contain removed data."""
    given_out = or_(
        JobTable.c.status != "done", JobTable.c.id.not_in(_outdated(connection, JobTable.c.run_id == run_id))
    )
    return _entries(
        connection, _jobs().where(JobTable.c.kind == "export", JobTable.c.run_id == run_id, given_out)
    )


def _outdated(connection: Connection, *of: ColumnElement[bool]) -> set[str]:
    removed = (
        select(func.max(RemovalTable.c.at))
        .join(AssignmentTable, AssignmentTable.c.id == RemovalTable.c.assignment_id)
        .where(AssignmentTable.c.run_id == JobTable.c.run_id)
        .scalar_subquery()
    )
    query = select(JobTable.c.id, JobTable.c.created_at, removed.label("removed_at")).where(
        JobTable.c.kind == "export", *of
    )
    return {
        job.id
        for job in connection.execute(query)
        if job.removed_at is not None and job.created_at <= job.removed_at + _READ_WITHIN
    }


def jobs_with_files(connection: Connection, kind: JobKind) -> set[str]:
    """Return the jobs of a kind that have files, or are making them."""
    query = select(JobTable.c.id).where(JobTable.c.kind == kind, JobTable.c.status.in_(("running", "done")))
    return set(connection.execute(query).scalars())


def forget_jobs(connection: Connection, jobs: Sequence[str]) -> None:
    """Delete the rows of these jobs."""
    connection.execute(delete(JobTable).where(JobTable.c.id.in_(jobs)))


def _jobs() -> Select[Any]:
    query = select(JobTable.__table__, RunTable.c.slug).join(RunTable, RunTable.c.id == JobTable.c.run_id)  # type: ignore[attr-defined]
    return query.order_by(JobTable.c.created_at.desc(), JobTable.c.id)


def _entries(connection: Connection, query: Select[Any]) -> list[JobEntry]:
    return [
        JobEntry(
            id=row.id,
            kind=row.kind,
            run=row.slug,
            status=row.status,
            options=json.loads(row.options),
            created_at=row.created_at,
            ended_at=row.ended_at,
            step=row.step,
            done=row.done,
            total=row.total,
            error=row.error,
            result=None if row.result is None else json.loads(row.result),
        )
        for row in connection.execute(query)
    ]

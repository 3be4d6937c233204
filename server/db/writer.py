"""Write jobs in groups: while one commit runs, the next group waits.

One fsync costs milliseconds, and a hundred rows in one commit cost hardly more than one. Each caller is
resolved only after the commit that holds its rows has returned.
"""

import asyncio
import sqlite3
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from datetime import datetime
from typing import Any, Generic, TypeVar, cast

import structlog
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, IntegrityError

from server.db.bulk import Bulk, Kind, OneStatement, Row, stored_time
from server.db.engine import empty_log, storage_error
from server.db.sessions import write as session_rows
from server.errors import StorageDamaged, StorageFailed
from server.session.records import Record

_MOST_PER_COMMIT = 500
_TRIES = 5
_WAIT_FOR_READERS_MS = 50  # before giving up emptying the log; workers' messages wait meanwhile
# PostgreSQL ends one of two transactions that wait for each other; repeated, it runs after the other.
_GAVE_WAY = frozenset({"40001", "40P01"})
# SQLite's error codes, by its own names, of a database that cannot be written, whatever the data.
_REFUSES_ALL_WRITES = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
    }
)
_NOT_STORED = "the database could not store this"
log = structlog.get_logger()
T = TypeVar("T")


class StaleState(Exception):
    """The records contradict what is stored: another process, or the assignment's end, came first. Reload."""


class QueuedJob(ABC):
    """A job waiting for its transaction. `error` is set if it was not done.

    It is made in the event loop of its caller, who awaits `done`.
    """

    __slots__ = ("done", "error", "result")

    def __init__(self) -> None:
        self.done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.result: Any = None
        self.error: Exception | None = None

    @abstractmethod
    def perform(self, connection: Connection) -> None:
        """Do the job, and keep the result. Raises any error of the database or of the job."""

    def resolve(self) -> None:
        """Pass the result to the caller, once, in the caller's loop."""
        done, error = self.done, self.error
        # An error holds the frames that it went through, which hold this object.
        del self.done, self.error
        if done.cancelled():
            return
        if error is None:
            done.set_result(self.result)
        elif isinstance(error, StopIteration):  # which no future takes; all later jobs would wait for good
            done.set_exception(RuntimeError("the work raised StopIteration"))
        else:
            done.set_exception(error)


class Work(QueuedJob, Generic[T]):
    """Any work to be done in a transaction; it may be done again if the transaction was ended.

    `removes`: the work removes people's data.
    """

    __slots__ = ("removes", "work")

    def __init__(self, work: Callable[[Connection], T], *, removes: bool = False) -> None:
        super().__init__()
        self.work = work
        self.removes = removes

    def perform(self, connection: Connection) -> None:
        """Do the work. Raises what it raises."""
        self.result = self.work(connection)


class Append(QueuedJob):
    """The records of one session, with the number under which their writer owns it."""

    __slots__ = ("assignment", "at", "fence", "records")

    def __init__(self, assignment: str, fence: int, records: Sequence[Record], at: datetime) -> None:
        super().__init__()
        self.assignment = assignment
        self.fence = fence
        self.records = records
        self.at = at

    def perform(self, connection: Connection) -> None:
        """Write the records. Raises StaleState."""
        append_records(connection, self.assignment, self.fence, self.records, self.at)


async def done_by(put: Callable[[QueuedJob], None], job: QueuedJob) -> Any:
    """Put a job into a thread's queue; return its result. Raises the job's error."""
    put(job)
    done = job.done
    del job
    try:
        return await done
    finally:
        del done  # its error holds this frame, which would hold the error


def refuse(job: QueuedJob) -> None:
    """Refuse a job: its thread has not started yet, or has ended."""
    job.error = StorageFailed("The database is not in use: the server is starting or ending")
    resolve([job])


def resolve(jobs: Sequence[QueuedJob]) -> None:
    """Pass the jobs' results to the callers, each in its loop, with one wake-up per loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[QueuedJob]] = {}
    for job in jobs:
        by_loop.setdefault(job.done.get_loop(), []).append(job)
    for loop, theirs in by_loop.items():
        with suppress(RuntimeError):  # the loop is closed, so nobody is waiting
            loop.call_soon_threadsafe(_resolve_all, theirs)


def _resolve_all(jobs: Sequence[QueuedJob]) -> None:
    for job in jobs:
        job.resolve()


class Writer:
    """Write through one thread and one connection. Call `start` before use and `stop` after it.

    Args:
        engine: The database's engine; `stop` disposes of it.
        name: The thread's name.
    """

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self._one_statement = _as_one() if engine.dialect.name == "sqlite" else None
        self._jobs: deque[QueuedJob | None] = deque()
        # Set only by the first job in the queue, because waking the thread takes microseconds.
        self._news = threading.Event()
        self._thread = threading.Thread(target=self._write_forever, name=name, daemon=True)
        self._is_at_work = False
        self._log_has_removed = True  # a server that was killed may have left removed data in the log
        self.is_damaged = False
        self.commits = 0

    def start(self) -> None:
        """Start writing."""
        self._is_at_work = True
        self._thread.start()

    def stop(self) -> None:
        """Write everything in the queue, then stop."""
        self._is_at_work = False
        self._jobs.append(None)
        self._news.set()
        self._thread.join()
        self._engine.dispose()

    def put(self, job: QueuedJob) -> None:
        """Queue a job for the next transaction; it is resolved with its result or error.

        Before `start` and after `stop`, it is resolved with StorageFailed at once.
        """
        if not self._is_at_work:
            refuse(job)
            return
        self._jobs.append(job)
        if not self._news.is_set():
            self._news.set()

    def _write_forever(self) -> None:
        is_last = False
        while not is_last:
            self._news.wait()
            self._news.clear()
            while self._jobs and not is_last:
                jobs, is_last = self._gather()
                if jobs:
                    self._commit_or_refuse(jobs)
                    self._empty_log(jobs)
                    resolve(jobs)
                del jobs  # or the thread would keep their sessions in memory while it waits

    def _gather(self) -> tuple[list[QueuedJob], bool]:
        """Return the waiting jobs, as many as fit in one commit, and whether they are the last."""
        jobs: list[QueuedJob] = []
        while self._jobs and len(jobs) < _MOST_PER_COMMIT:
            job = self._jobs.popleft()
            if job is None:
                return jobs, True
            jobs.append(job)
        return jobs, False

    def _empty_log(self, jobs: Sequence[QueuedJob]) -> None:
        """Remove deleted data from SQLite's log, now or after a later transaction."""
        self._log_has_removed |= any(isinstance(job, Work) and job.removes for job in jobs)
        if not self._log_has_removed:
            return
        try:
            self._log_has_removed = not empty_log(self._engine, _WAIT_FOR_READERS_MS)
        except Exception as error:  # whatever goes wrong, the writer must live on
            log.warning("the log of the database was not emptied", error=str(error))

    def _commit_or_refuse(self, jobs: Sequence[QueuedJob]) -> None:
        """Commit, and survive any error, such as a log line that a full disk does not take."""
        try:
            self._commit(jobs)
        except Exception:
            for job in jobs:
                job.error = StorageFailed(_NOT_STORED)
        self.is_damaged |= any(isinstance(job.error, StorageDamaged) for job in jobs)

    def _commit(self, jobs: Sequence[QueuedJob]) -> None:
        for tries in range(1, _TRIES + 1):
            for job in jobs:
                job.error = None  # of the try before, as the job may succeed now
            try:
                self._write(jobs)
            except Exception as error:  # whatever goes wrong, the writer must live on
                if _gave_way(error) and tries < _TRIES:
                    log.info("transaction gave way to another", jobs=len(jobs))
                    continue
                log.error("commit failed", jobs=len(jobs), error=str(error))
                failed = storage_error(error, _NOT_STORED)
                for job in jobs:
                    job.error = failed
            else:
                self.commits += 1
            return

    def _write(self, jobs: Sequence[QueuedJob]) -> None:
        """Do all jobs together or, if one of them fails, one by one; then each keeps its own error."""
        if self._one_statement is not None and all(isinstance(job, Append) for job in jobs):
            done = self._write_in_one_statement(self._one_statement, cast("Sequence[Append]", jobs))
        else:
            done = self._transact(jobs, _do_all)
        if not done:
            self._transact(jobs, _do_one_by_one)

    def _write_in_one_statement(self, one_statement: OneStatement, appends: Sequence[Append]) -> bool:
        """Write all appends with one statement. Return False, and write nothing, if that is not possible.

        SQLite commits the statement when it ends, because no transaction is open.
        """
        if _repeats_an_assignment(appends):
            return False
        owned = [_owned(each.assignment, each.fence, each.at) for each in appends]
        records = ((each.assignment, record) for each in appends for record in each.records)
        with closing(self._engine.raw_connection()) as connection:
            try:
                driver = cast("sqlite3.Connection", connection.driver_connection)
                one_statement.execute(driver.execute, session_rows.by_statement(records), owned)
            except Exception as error:  # of one of the appends, unless the database cannot be written at all
                if isinstance(error, sqlite3.OperationalError) and _refuses_all_writes(error):
                    raise
                log.debug("batch taken apart", jobs=len(appends), error=str(error))
                return False
        return True

    def _transact(
        self, jobs: Sequence[QueuedJob], do: Callable[[Connection, Sequence[QueuedJob]], bool]
    ) -> bool:
        """Do jobs in one transaction, by `do`. Return False, and write nothing, if that is not possible."""
        with self._engine.connect() as connection, connection.begin() as transaction:
            if not do(connection, jobs):
                transaction.rollback()
                return False
        return True


def _do_all(connection: Connection, jobs: Sequence[QueuedJob]) -> bool:
    """Do all jobs, the appends with one statement per table; return whether that was possible.

    Return False if a job contradicts what is stored, or if a session appends twice: its first records may
    have ended it. The caller then tries each job by itself, so that the others are not harmed.
    """
    appends = [job for job in jobs if isinstance(job, Append)]
    if _repeats_an_assignment(appends):
        return False
    try:
        if appends:
            _append(connection, [(a.assignment, a.fence, a.records, a.at) for a in appends])
        for job in jobs:
            if not isinstance(job, Append):
                job.perform(connection)
    except Exception as error:  # of one of the jobs; it is raised again when they are tried one by one
        log.debug("batch taken apart", jobs=len(jobs), error=str(error))
        return False
    return True


def _refuses_all_writes(error: sqlite3.OperationalError) -> bool:
    """Return whether an error concerns the database itself, not the data to be written."""
    return error.sqlite_errorcode & 0xFF in _REFUSES_ALL_WRITES  # the higher bits only give details


def _repeats_an_assignment(appends: Sequence[Append]) -> bool:
    return len({append.assignment for append in appends}) < len(appends)


def _do_one_by_one(connection: Connection, jobs: Sequence[QueuedJob]) -> bool:
    for job in jobs:
        _perform(connection, job)
    return True


def _perform(connection: Connection, job: QueuedJob) -> None:
    """Do one job within a savepoint, so that its failure leaves the other jobs of the group alone.

    Raises:
        DBAPIError: The database has rolled back more than this job (SQLite does so on a full disk), so that
            the savepoint is gone and the whole group has failed; or it wants the transaction to be repeated.
    """
    job.error = None  # from an earlier try
    savepoint = connection.begin_nested()
    try:
        job.perform(connection)
        savepoint.commit()
    except Exception as error:  # the caller of the job gets any error; the writer must live on
        if _gave_way(error):
            raise
        savepoint.rollback()
        job.error = _for_the_caller(error)


def _gave_way(error: Exception) -> bool:
    """Return whether the database has ended a transaction so that another could go on."""
    return isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) in _GAVE_WAY


def _for_the_caller(error: Exception) -> Exception:
    """Return the error for the caller of a failed job: never one of the database driver's own."""
    if isinstance(error, IntegrityError):
        return StaleState(str(error.orig))
    if isinstance(error, DBAPIError):
        log.error("write failed", error=str(error))
        return storage_error(error, _NOT_STORED)
    return error


# An assignment that is over, or that another process has taken over, is not found; then nothing is written.
_STILL_OWNED = Bulk(
    """
    UPDATE assignment SET active_at = given.at FROM {rows} AS given
    WHERE assignment.id = given.key AND assignment.fence = given.fence AND assignment.status = 'active'""",
    key=Kind.TEXT,
    fence=Kind.NUMBER,
    at=Kind.TIME,
)


def _as_one() -> OneStatement:
    return OneStatement(session_rows.IN_ORDER, first=_STILL_OWNED)


def _owned(assignment: str, fence: int, at: datetime) -> Row:
    return assignment, fence, stored_time(at)


def append_records(
    connection: Connection, assignment: str, fence: int, records: Sequence[Record], at: datetime
) -> None:
    """Write the records of an assignment, as `Store.append`. Raises StaleState if that is not allowed."""
    _append(connection, [(assignment, fence, records, at)])


def _append(connection: Connection, appends: Sequence[tuple[str, int, Sequence[Record], datetime]]) -> None:
    """Write the records of several assignments. Raises StaleState if one of them must not be written to."""
    owned = [_owned(assignment, fence, at) for assignment, fence, _, at in appends]
    if _STILL_OWNED.execute(connection, owned) != len(appends):
        raise StaleState(f"no longer active, or not the caller's: {', '.join(key for key, *_ in owned)}")
    session_rows.write(connection, ((key, record) for key, _, records, _ in appends for record in records))

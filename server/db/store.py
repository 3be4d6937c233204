"""Database facade: append, submit, read, and look up in groups."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from queue import Empty, SimpleQueue
from typing import TypeVar, cast

import structlog
from sqlalchemy import Connection, Engine, make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from server.db.engine import DatabaseLimits, open_engine, storage_error
from server.db.sessions import read as stored_records
from server.db.writer import (
    Append,
    QueuedJob,
    Work,
    Writer,
    append_records,
    done_by,
    refuse,
    resolve,
)
from server.errors import StorageDamaged, StorageFailed
from server.session.records import Record

# Python runs one thread at a time, so several threads that use SQLite would wait for each other.
_AT_SQLITE = {"threads": 1, "together": 8}
_AT_POSTGRESQL = {"threads": 4, "together": 1}  # each waits for the network
log = structlog.get_logger()
T = TypeVar("T")


class Store:
    """Write through one thread, read through others. Call `start` before use and `stop` after it.

    Before and after that, writes and `look_up` are refused at once, with StorageFailed; `read` is not.

    On PostgreSQL, submitted work has a thread and a connection of its own: it may wait for other processes,
    as arrivals do, and sessions must not wait with it. SQLite has one writer.
    """

    def __init__(self, url: str, limits: DatabaseLimits | None = None) -> None:
        def writer(name: str) -> Writer:
            return Writer(open_engine(url, begin="BEGIN IMMEDIATE", limits=limits), name)

        self._is_damaged = False
        self._sessions = writer("store-sessions")
        alone = make_url(url).get_backend_name() == "sqlite"
        self._works = self._sessions if alone else writer("store-works")
        self._reader = open_engine(url, limits=limits)
        self._lookups = Reader(self._reader, **(_AT_SQLITE if alone else _AT_POSTGRESQL))

    @property
    def is_damaged(self) -> bool:
        """Whether SQLite has found its file damaged since the start."""
        return self._is_damaged or any(writer.is_damaged for writer in self._writers())

    @property
    def commits(self) -> int:
        """The number of transactions so far."""
        return sum(writer.commits for writer in self._writers())

    def start(self) -> None:
        """Start writing and looking up."""
        for writer in self._writers():
            writer.start()
        self._lookups.start()

    def stop(self) -> None:
        """Write everything in the queue, then stop."""
        for writer in self._writers():
            writer.stop()
        self._lookups.stop()
        self._reader.dispose()

    def _writers(self) -> set[Writer]:
        return {self._sessions, self._works}

    async def append(
        self,
        assignment_id: str,
        fence: int,
        records: Sequence[Record],
        at: datetime,
        also: Callable[[Connection], None] | None = None,
    ) -> None:
        """Store the records of one session; return once they are on disk.

        Args:
            assignment_id: The session's assignment.
            fence: The number under which the caller owns the session.
            records: The records; either all are stored or none.
            at: The time now, stored as the worker's last activity.
            also: Writes in the same transaction.

        Raises:
            StaleState: The records contradict what is stored, the assignment is over, or the session has
                another owner by now; nothing was written.
            StorageFailed: The database could not be written, or its answer was lost after the commit.
        """
        if also is None:
            await done_by(self._sessions.put, Append(assignment_id, fence, records, at))
            return

        def work(connection: Connection) -> None:
            append_records(connection, assignment_id, fence, records, at)
            also(connection)

        await done_by(self._works.put, Work(work))

    async def load(self, assignment_id: str) -> list[Record]:
        """Return the records of an assignment. Raises NoResultFound if there is none."""
        read, row = stored_records.read, stored_records.assignment_row
        return await self.read(lambda connection: read(connection, row(connection, assignment_id)))

    async def submit(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in the next transaction; return its result once that is on disk.

        `work` may run more than once, and only the last result counts. So it must change nothing but the
        database.

        Raises:
            StorageFailed: The database could not be written; nothing was stored.
        """
        return cast(T, await done_by(self._works.put, Work(work)))

    async def remove(self, work: Callable[[Connection], T]) -> T:
        """Run `work`, which removes people's data, as `submit` does; leave no trace in SQLite's log.

        While somebody reads the database the log stays; it is emptied after one of the next transactions.
        Raises StorageFailed, as `submit`.
        """
        return cast(T, await done_by(self._works.put, Work(work, removes=True)))

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on a snapshot of the database, beside the writer; it may take long.

        Raises:
            StorageFailed: The database could not be read.
        """
        return await asyncio.to_thread(self._read, work)

    async def look_up(self, work: Callable[[Connection], T]) -> T:
        """Run `work`, which finds a few rows by an index, as `read` does: for workers and their sessions.

        Lookups have their own threads. A lookup waits only for other lookups, unless PostgreSQL has no free
        connection. It is skipped if its caller is cancelled before its turn. Raises StorageFailed, as
        `read`.
        """
        try:
            return cast(T, await done_by(self._lookups.put, Work(work)))
        except (DBAPIError, PoolTimeout) as error:
            raise self._unread(error) from error

    def _read(self, work: Callable[[Connection], T]) -> T:
        try:
            with self._reader.connect() as connection:
                return work(connection)
        except (DBAPIError, PoolTimeout) as error:
            raise self._unread(error) from error

    def _unread(self, error: Exception) -> StorageFailed:
        failed = storage_error(error, "the database could not be read")
        self._is_damaged |= isinstance(failed, StorageDamaged)
        log.error("read failed", error=str(error))
        return failed


class Reader:
    """Look things up in groups, through threads of its own. Call `start` before use and `stop` after it.

    While one group is looked up, the next one waits. Each statement, and each beginning and end of a
    transaction, releases Python's interpreter lock, and waking a thread takes as long as a lookup. Lookups in
    one group share everything except their own statements.

    Args:
        engine: The database's engine; its creator disposes of it.
        threads: The number of lookups at the same time.
        together: The most lookups in one transaction. They are resolved when all of them are done.
    """

    def __init__(self, engine: Engine, *, threads: int, together: int) -> None:
        self._engine = engine
        self._together = together
        self._jobs: SimpleQueue[QueuedJob | None] = SimpleQueue()
        self._is_at_work = False
        self._threads = [
            threading.Thread(target=self._look_up_forever, name=f"store-lookups-{number}", daemon=True)
            for number in range(threads)
        ]

    def start(self) -> None:
        """Start looking up."""
        self._is_at_work = True
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Look up everything in the queue, then stop."""
        self._is_at_work = False
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def put(self, job: QueuedJob) -> None:
        """Queue a job for a snapshot taken from now on; it is resolved with its result or an error.

        Jobs given up before their turn are skipped. Before `start` and after `stop`, a job is resolved with
        StorageFailed at once.
        """
        if self._is_at_work:
            self._jobs.put(job)
        else:
            refuse(job)

    def _look_up_forever(self) -> None:
        is_last = False
        while not is_last:
            jobs, is_last = self._gather()
            if jobs:
                self._look_up(jobs)
                resolve(jobs)
            del jobs  # or the thread would keep their results in memory while it waits

    def _gather(self) -> tuple[list[QueuedJob], bool]:
        """Return the waiting jobs of one group, and whether they are the last."""
        jobs: list[QueuedJob] = []
        job = self._jobs.get()
        with suppress(Empty):
            while job is not None:
                jobs.append(job)
                if len(jobs) == self._together:
                    return jobs, False
                job = self._jobs.get_nowait()
            return jobs, True
        return jobs, False

    def _look_up(self, jobs: Sequence[QueuedJob]) -> None:
        waiting = deque(jobs)
        while waiting:
            try:
                with self._engine.connect() as connection:
                    _perform(connection, waiting)
            except Exception as error:  # there is no connection, or none any more
                for job in waiting:
                    job.error = error
                return


def _perform(connection: Connection, waiting: deque[QueuedJob]) -> None:
    """Do the waiting jobs, up to the first that fails, as the database may have ended its transaction."""
    while waiting:
        job = waiting.popleft()
        if job.done.cancelled():
            continue
        try:
            job.perform(connection)
        except Exception as error:  # the caller of the job gets any error
            job.error = error
            return

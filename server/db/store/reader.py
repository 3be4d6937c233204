"""Look things up in groups: while one group is looked up, the next one waits.

Each statement, and each beginning and end of a transaction, releases Python's interpreter lock, and waking a
thread takes as long as a lookup. Lookups in one group share everything except their own statements.
"""

import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue

from sqlalchemy import Connection, Engine

from server.db.store.writer import QueuedJob, refuse, resolve


class Reader:
    """Look things up through threads of its own. Call `start` before use and `stop` after it.

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

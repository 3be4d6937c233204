"""Looks things up in groups: while one group is looked up, the next one waits.

Each statement gives the interpreter away, and so do the beginning and the end of a transaction; to wake a
thread takes as long as what it is to look up. What is looked up together shares all but its own statements.
"""

import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue

from sqlalchemy import Connection, Engine

from server.db.store.work import Job, refuse, resolve


class Reader:
    """Looks up through threads of its own. Call `start` before and `stop` after use.

    Args:
        engine: of the database; who made it disposes of it.
        threads: how many look up at the same time.
        together: how many are looked up in one transaction, at most. Each hears of it when all are done.
    """

    def __init__(self, engine: Engine, *, threads: int, together: int) -> None:
        self._engine = engine
        self._together = together
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
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
        """Look up what is waiting, then stop."""
        self._is_at_work = False
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def put(self, job: Job) -> None:
        """Have a job done on a snapshot that is taken from now on. What the database raises is its error.

        One that is given up before its turn is left out. Where nothing is looked up, before `start` and from
        `stop` on, StorageFailed is its error at once.
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
            del jobs  # or the thread keeps what they have found for as long as it waits

    def _gather(self) -> tuple[list[Job], bool]:
        """Return what waits, as much as is done together, and whether nothing comes behind it."""
        jobs: list[Job] = []
        job = self._jobs.get()
        with suppress(Empty):
            while job is not None:
                jobs.append(job)
                if len(jobs) == self._together:
                    return jobs, False
                job = self._jobs.get_nowait()
            return jobs, True
        return jobs, False

    def _look_up(self, jobs: Sequence[Job]) -> None:
        waiting = deque(jobs)
        while waiting:
            try:
                with self._engine.connect() as connection:
                    _perform(connection, waiting)
            except Exception as error:  # there is no connection, or none any more
                for job in waiting:
                    job.error = error
                return


def _perform(connection: Connection, waiting: deque[Job]) -> None:
    """Do what waits; only up to one that fails, as the database may have ended the transaction for it."""
    while waiting:
        job = waiting.popleft()
        if job.is_given_up:
            continue
        try:
            job.perform(connection)
        except Exception as error:  # whatever a job raises is its caller's
            job.error = error
            return

"""Queue of work for a thread that has a database connection."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

import structlog
from sqlalchemy import Connection

from server.errors import StorageFailed

log = structlog.get_logger()
T = TypeVar("T")


@dataclass(slots=True, eq=False)
class QueuedJob(ABC):
    """A job waiting for its transaction, with its caller's loop. `error` is set if it was not done."""

    loop: asyncio.AbstractEventLoop
    error: Exception | None = None

    @property
    def is_given_up(self) -> bool:
        """Whether nobody waits for the result any more; read by the working thread."""
        return False

    @abstractmethod
    def perform(self, connection: Connection) -> None:
        """Do the job, and keep the result. Raises any error of the database or of the job."""

    @abstractmethod
    def resolve(self) -> None:
        """Pass the result to the caller, in its loop."""


@dataclass(slots=True, eq=False, kw_only=True)
class Work(QueuedJob, Generic[T]):
    """Any work to be done in a transaction; it may be done again if the transaction was ended.

    `then` is called with the result and None, or with None and the error. `waiting` is the caller's future:
    once it is cancelled, work that only reads is skipped. `removes`: the work removes people's data.
    """

    work: Callable[[Connection], T]
    then: Callable[[T | None, Exception | None], None]
    waiting: asyncio.Future[T] | None = None
    removes: bool = False
    result: T | None = None

    @property
    def is_given_up(self) -> bool:
        """Whether the caller has stopped waiting."""
        return self.waiting is not None and self.waiting.cancelled()

    def perform(self, connection: Connection) -> None:
        """Do the work. Raises what it raises."""
        self.result = self.work(connection)

    def resolve(self) -> None:
        """Pass the result to the caller, once."""
        then, error = self.then, self.error
        # An error holds the frames that it went through, which hold this object.
        del self.then, self.error, self.waiting
        then(self.result, error)


def refuse(job: QueuedJob) -> None:
    """Refuse a job: its thread has not started yet, or has ended."""
    job.error = StorageFailed("the database is not in use: the server is starting or ending")
    resolve([job])


def resolve(jobs: Sequence[QueuedJob]) -> None:
    """Pass the jobs' results to the callers, each in its loop, with one wake-up per loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[QueuedJob]] = {}
    for job in jobs:
        by_loop.setdefault(job.loop, []).append(job)
    for loop, theirs in by_loop.items():
        with suppress(RuntimeError):  # the loop is closed, so nobody is waiting
            loop.call_soon_threadsafe(_resolve_all, theirs)


def _resolve_all(jobs: Sequence[QueuedJob]) -> None:
    for job in jobs:
        try:
            job.resolve()
        except Exception:  # an error in one caller must not keep the results from the others
            log.exception("the result of a database job could not be delivered")

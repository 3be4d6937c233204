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
class Job(ABC):
    """What waits for its transaction, in the loop of its caller. `error`: why it was not done."""

    loop: asyncio.AbstractEventLoop
    error: Exception | None = None

    @property
    def is_given_up(self) -> bool:
        """Whether nobody waits for what is read; asked from the thread that would do it."""
        return False

    @abstractmethod
    def perform(self, connection: Connection) -> None:
        """Do it, and keep the result. Raises what the database raises, or what else stands against it."""

    @abstractmethod
    def resolve(self) -> None:
        """Tell the caller, in its loop."""


@dataclass(slots=True, eq=False, kw_only=True)
class Work(Job, Generic[T]):
    """Anything that is to be done within a transaction; it may be done again where that was ended.

    `then` is called with what came of it and None, or None and why it was not done. `waiting`: who waits for
    that; once it is cancelled, what only reads need not be done. `removes`: it removes what people gave.
    """

    work: Callable[[Connection], T]
    then: Callable[[T | None, Exception | None], None]
    waiting: asyncio.Future[T] | None = None
    removes: bool = False
    result: T | None = None

    @property
    def is_given_up(self) -> bool:
        """Whether who has waited for it is gone."""
        return self.waiting is not None and self.waiting.cancelled()

    def perform(self, connection: Connection) -> None:
        """Do it. Raises what it raises."""
        self.result = self.work(connection)

    def resolve(self) -> None:
        """Tell the caller, once."""
        then, error = self.then, self.error
        # An error has the frames that it went through, which have this.
        del self.then, self.error, self.waiting
        then(self.result, error)


def refuse(job: Job) -> None:
    """Tell the caller of a job that nobody does it: what would is not started yet, or has ended."""
    job.error = StorageFailed("the database is not in use: the server is starting or ending")
    resolve([job])


def resolve(jobs: Sequence[Job]) -> None:
    """Tell the callers, each in its loop: one wake-up a loop, however many there are."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Job]] = {}
    for job in jobs:
        by_loop.setdefault(job.loop, []).append(job)
    for loop, theirs in by_loop.items():
        with suppress(RuntimeError):  # the loop is closed: nobody is left to be told
            loop.call_soon_threadsafe(_resolve_all, theirs)


def _resolve_all(jobs: Sequence[Job]) -> None:
    for job in jobs:
        try:
            job.resolve()
        except Exception:  # whatever a caller makes of it, the others are told too
            log.exception("what came of a job could not be told")

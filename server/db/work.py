"""What waits to be done in the database, by a thread that has a connection."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

import structlog
from sqlalchemy import Connection

log = structlog.get_logger()
T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Job(ABC):
    """What waits for its transaction, in the loop of its caller. `error`: why it was not done."""

    loop: asyncio.AbstractEventLoop
    error: Exception | None = None

    @abstractmethod
    def perform(self, connection: Connection) -> None:
        """Do it, and keep the result. Raises what the database raises, or what else stands against it."""

    @abstractmethod
    def resolve(self) -> None:
        """Tell the caller, in its loop."""


@dataclass(slots=True, eq=False, kw_only=True)
class Work(Job, Generic[T]):
    """Anything that is to be done within a transaction; it may be done again where that was ended.

    `then` is called with what came of it and None, or None and why it was not done.
    """

    work: Callable[[Connection], T]
    then: Callable[[T | None, Exception | None], None]
    result: T | None = None

    def perform(self, connection: Connection) -> None:
        """Do it. Raises what it raises."""
        self.result = self.work(connection)

    def resolve(self) -> None:
        """Tell the caller, once."""
        then, error = self.then, self.error
        del self.then, self.error  # an error has the frames that it went through, which have this
        then(self.result, error)


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

"""Jobs for a thread that has a database connection. The callers await the results."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Generic, Protocol, TypeVar

from sqlalchemy import Connection

from server.errors import StorageFailed

T = TypeVar("T")


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


class JobQueue(Protocol):
    """A thread that does jobs."""

    def put(self, job: QueuedJob) -> None:
        """Queue a job; it is resolved with its result or an error."""


async def done_by(queue: JobQueue, job: QueuedJob) -> Any:
    """Have a job done; return its result. Raises the job's error."""
    queue.put(job)
    done = job.done
    del job
    try:
        return await done
    finally:
        del done  # its error holds this frame, which would hold the error


def refuse(job: QueuedJob) -> None:
    """Refuse a job: its thread has not started yet, or has ended."""
    job.error = StorageFailed("the database is not in use: the server is starting or ending")
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

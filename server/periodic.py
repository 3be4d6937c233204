"""Run a task again and again, beside the requests."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog

from server.errors import StorageFailed

_MOST_DOUBLINGS = 4  # of a pause
log = structlog.get_logger()


class PeriodicTask:
    """Does something, pauses, and does it again, whatever becomes of it, until it is told to stop.

    A database that does not answer is for the store to log; the next time comes as usual. Of faults in a row
    the first is logged, with its traceback; each doubles the pause, up to sixteen times the usual.

    Args:
        work: what is done.
        seconds: between its end and its next beginning.
        failure: what the log says of a fault.
    """

    def __init__(self, work: Callable[[], Awaitable[None]], seconds: float, failure: str) -> None:
        self._work = work
        self._seconds = seconds
        self._failure = failure
        self._faults = 0
        self._awake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.stopping = False

    def start(self) -> None:
        """Begin, at once."""
        self._task = asyncio.get_running_loop().create_task(self._repeat())

    def wake(self) -> None:
        """End the pause, or leave the next one out."""
        self._awake.set()

    async def stop(self) -> None:
        """Begin nothing more; return when what is under way, which may ask for `stopping`, has ended."""
        self.stopping = True
        self.wake()
        if self._task is not None:
            await self._task

    async def cancel(self) -> None:
        """Give up what is under way, and begin nothing more."""
        self.stopping = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _repeat(self) -> None:
        while not self.stopping:
            self._awake.clear()
            await self._once()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._seconds * 2 ** min(self._faults, _MOST_DOUBLINGS)):
                    await self._awake.wait()

    async def _once(self) -> None:
        try:
            await self._work()
        except StorageFailed:
            return
        except Exception:  # a fault of ours must not make this time the last one
            if not self._faults:
                log.exception(self._failure)
            self._faults += 1
            return
        if self._faults:
            log.info("a fault is over", fault=self._failure, times=self._faults)
        self._faults = 0

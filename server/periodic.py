"""Run a task periodically, in the background."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog

from server.errors import StorageFailed

_MOST_DOUBLINGS = 4  # of the pause
log = structlog.get_logger()


class PeriodicTask:
    """Run something, pause, and run it again, whether it fails or not, until it is stopped.

    If the database does not answer, the store logs that, and the next run comes as usual. Of several errors
    in a row only the first is logged, with its traceback. Each doubles the pause, up to sixteen times the
    usual one.

    Args:
        work: The function to run.
        seconds: The pause between the end of a run and the next beginning.
        failure: The log's message for an error.
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
        """Start the first run at once."""
        self._task = asyncio.get_running_loop().create_task(self._repeat())

    def wake(self) -> None:
        """End the pause, or skip the next one."""
        self._awake.set()

    async def stop(self) -> None:
        """Stop, and return when a run in progress has ended; it may check `stopping`."""
        self.stopping = True
        self.wake()
        if self._task is not None:
            await self._task

    async def cancel(self) -> None:
        """Stop, and cancel a run in progress."""
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
        except Exception:  # an error in our code must not make this run the last one
            if not self._faults:
                log.exception(self._failure)
            self._faults += 1
            return
        if self._faults:
            log.info("a fault is over", fault=self._failure, times=self._faults)
        self._faults = 0

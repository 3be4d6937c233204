"""Periodic tasks in the background, and leases for work that only one process may do at a time."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from datetime import datetime
from typing import Any

import structlog

from server.clock import utc_now
from server.db.jobs import LEASE_SECONDS, release_lease, take_lease
from server.db.store import Store
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


class Lease:
    """A process's exclusive right to do something, as long as it is renewed.

    Args:
        store: Stores who has the lease.
        name: The name of the work.
        now: Returns the time.
        renewed_every: Seconds between renewals, fewer than a lease lasts.
    """

    def __init__(
        self,
        store: Store,
        name: str,
        now: Callable[[], datetime] = utc_now,
        renewed_every: float = LEASE_SECONDS / 3,
    ) -> None:
        self._store = store
        self._name = name
        self._now = now
        self._renewed_every = renewed_every
        self._holder = secrets.token_hex(8)

    async def work_alone(self, work: Callable[[], Coroutine[Any, Any, None]], pause: float = 0.0) -> None:
        """Run `work`, unless another process does; cancel it if the lease is lost meanwhile.

        Args:
            work: The work.
            pause: For how many seconds after its end no other process may do it again.

        Raises:
            StorageFailed: The database could not tell who has the lease.
            Exception: Anything that `work` raises; then there is no pause.
        """
        if not await self.take():
            return
        working = asyncio.create_task(work())
        try:
            while not working.done():
                await asyncio.wait({working}, timeout=self._renewed_every)
                if not working.done() and not await self.take():
                    return
            await working
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
        if pause:
            await self.take(pause)

    async def take(self, seconds: float = LEASE_SECONDS) -> bool:
        """Take or renew the lease for so many seconds; return whether this process has it now.

        Work that must not be cancelled calls this before each step. Raises StorageFailed.
        """
        return await self._store.submit(
            lambda c: take_lease(c, self._name, self._holder, self._now(), seconds)
        )

    async def release(self) -> None:
        """Release the lease, so that another process can take it. Raises StorageFailed."""
        await self._store.submit(lambda connection: release_lease(connection, self._holder))

"""Leases for work that any process can do, but only one may do at a time."""

import asyncio
import secrets
from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any

from server.clock import utc_now
from server.db.jobs import LEASE_SECONDS, release_lease, take_lease
from server.db.store.store import Store


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

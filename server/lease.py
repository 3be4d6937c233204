"""Lease for work that any process can do and only one may do at a time."""

import asyncio
import secrets
from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any

from server.clock import utc_now
from server.db.jobs import LEASE_SECONDS, release_lease, take_lease
from server.db.store.store import Store


class Lease:
    """A process's claim to do something alone, good for as long as it is renewed.

    Args:
        store: where it is kept who has it.
        name: what is done.
        now: tells the time.
        renewed_every: seconds, fewer than a lease lasts.
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
        """Do something, unless another process does; where the lease is lost meanwhile, give it up.

        Args:
            work: what is done.
            pause: for how many seconds after its end no other process is to do it again.

        Raises:
            StorageFailed: it cannot be known who has the lease.
            Exception: whatever `work` raises; then no pause is kept.
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
        """Take it, or renew it, for so many seconds; return whether this process has it now.

        For work that must come to its end once it has begun: it asks before each step. Raises StorageFailed.
        """
        return await self._store.submit(
            lambda c: take_lease(c, self._name, self._holder, self._now(), seconds)
        )

    async def release(self) -> None:
        """Give it up, so that another process can have it. Raises StorageFailed."""
        await self._store.submit(lambda connection: release_lease(connection, self._holder))

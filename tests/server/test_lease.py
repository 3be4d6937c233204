"""Work under a lease is repeated only after its pause, and stops once the lease is lost."""

import asyncio
from datetime import timedelta

import pytest

from server.clock import utc_now
from server.db.store.store import Store
from server.lease import Lease
from tests.server.support.database import execute

pytestmark = pytest.mark.databases("sqlite", "postgresql")
NAME = "tide"


async def test_what_was_done_is_not_done_again_by_another_before_its_pause_is_over(store: Store) -> None:
    now, done = utc_now(), list[str]()
    leases = {name: Lease(store, NAME, lambda: now) for name in ("a", "b")}

    async def look(name: str, seconds: float) -> None:
        nonlocal now
        now += timedelta(seconds=seconds)

        async def work() -> None:
            done.append(name)

        await leases[name].work_alone(work, pause=300.0)

    await look("a", 0)
    await look("b", 299)
    assert done == ["a"]
    await look("b", 2)
    assert done == ["a", "b"]
    await look("a", 1)
    assert done == ["a", "b"]
    await leases["b"].release()  # as a process does that ends
    await look("a", 1)
    assert done == ["a", "b", "a"]


async def test_long_work_is_given_up_where_its_lease_is_lost(store: Store, url: str) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    lease = Lease(store, NAME, renewed_every=0.01)
    working = asyncio.create_task(lease.work_alone(work))
    await begun.wait()
    execute(url, "UPDATE job_lease SET holder = 'another', until = '2999-01-01 00:00:00.000000'")
    await working
    assert ended.is_set()

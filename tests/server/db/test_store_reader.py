"""Look-ups: beside what takes its time, and together."""

import asyncio
import threading
from collections.abc import Callable

import pytest
from sqlalchemy import Connection, event, text
from sqlalchemy.exc import DBAPIError

from server.db.engine import open_engine
from server.db.store import Reader, Store
from server.db.writer import Work, done_by
from server.errors import StorageFailed
from server.session.records import Agreed
from tests.server.support.study import AT
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.databases("sqlite", "postgresql")


def number(wanted: int) -> Callable[[Connection], int]:
    return lambda connection: int(connection.execute(text(f"SELECT {wanted}")).scalar_one())


@pytest.mark.databases("sqlite")
async def test_a_look_up_waits_for_no_reading_that_takes_its_time(store: Store) -> None:
    over = threading.Event()
    slow = [asyncio.create_task(store.read(lambda _: over.wait(PATIENCE))) for _ in range(40)]
    await asyncio.sleep(0)  # now every thread of `asyncio.to_thread` has one, and some wait for a thread
    found = await asyncio.wait_for(
        store.look_up(lambda c: c.execute(text("SELECT 1")).scalar_one()), PATIENCE
    )
    assert (found, [task.done() for task in slow]) == (1, [False] * 40)
    over.set()
    assert await asyncio.gather(*slow) == [True] * 40


async def test_a_look_up_that_fails_harms_none_that_waits_with_it(store: Store) -> None:
    over = threading.Event()
    busy = [asyncio.create_task(store.look_up(lambda _: over.wait(PATIENCE))) for _ in range(4)]
    together = [
        asyncio.create_task(store.look_up(look))
        for look in (
            lambda connection: connection.execute(text("SELECT 1")).scalar_one(),
            lambda connection: connection.execute(text("SELECT nothing FROM nowhere")),
            lambda connection: connection.execute(text("SELECT 2")).scalar_one(),
            lambda _: 1 // 0,
            lambda connection: connection.execute(text("SELECT 3")).scalar_one(),
        )
    ]
    await asyncio.sleep(0)  # now all of them wait
    over.set()
    await asyncio.gather(*busy)
    first, refused, second, fault, third = await asyncio.gather(*together, return_exceptions=True)
    assert (first, second, third) == (1, 2, 3)
    assert isinstance(refused, StorageFailed)
    assert isinstance(fault, ZeroDivisionError)


async def test_what_waits_is_looked_up_in_groups_each_at_one_moment(url: str) -> None:
    engine = open_engine(url)
    begun: list[object] = []
    event.listen(engine, "begin", begun.append)
    reader = Reader(engine, threads=1, together=3)
    reader.start()
    busy, go_on = threading.Event(), threading.Event()

    def first(_: Connection) -> bool:
        busy.set()
        return go_on.wait(PATIENCE)

    def refused(connection: Connection) -> int:
        return int(connection.execute(text("SELECT nothing FROM nowhere")).scalar_one())

    before = asyncio.create_task(done_by(reader.put, Work(first)))
    await asyncio.to_thread(busy.wait, PATIENCE)
    works = (*map(number, range(1, 5)), refused, *map(number, range(6, 9)))
    waiting = asyncio.gather(*(done_by(reader.put, Work(work)) for work in works), return_exceptions=True)
    await asyncio.sleep(0)  # now all of them wait
    go_on.set()
    found = await asyncio.wait_for(waiting, PATIENCE)
    await before
    reader.stop()
    engine.dispose()
    assert isinstance(found.pop(4), DBAPIError)
    assert found == [1, 2, 3, 4, 6, 7, 8]
    # Three, two up to the one that fails, one behind it, two; none for the first, which asks nothing.
    assert len(begun) == 4


async def test_a_look_up_whose_caller_is_gone_is_left_out(store: Store) -> None:
    over, looked = threading.Event(), list[str]()
    busy = [asyncio.create_task(store.look_up(lambda _: over.wait(PATIENCE))) for _ in range(4)]
    gone = asyncio.create_task(store.look_up(lambda _: looked.append("gone")))
    here = asyncio.create_task(store.look_up(lambda _: looked.append("here")))
    await asyncio.sleep(0)  # now all of them wait
    gone.cancel()
    await asyncio.wait({gone})
    over.set()
    await asyncio.gather(*busy, here)
    assert looked == ["here"]


async def test_nothing_waits_for_a_store_that_is_not_started_or_has_ended(url: str) -> None:
    async def is_refused() -> None:
        async with asyncio.timeout(PATIENCE):
            for call in (
                store.look_up(number(1)),
                store.submit(number(1)),
                store.append("nobody", 0, [Agreed(AT, "first")], AT),
            ):
                with pytest.raises(StorageFailed, match="not in use"):
                    await call

    store = Store(url)
    await is_refused()
    store.start()
    assert await store.look_up(number(1)) == 1
    store.stop()
    await is_refused()

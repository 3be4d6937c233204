"""PostgreSQL as it may fail under a server: stopped, started, killed, slow; nothing acknowledged is lost."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress

import pytest
from sqlalchemy import text

from server.bots.lineup import OpenRun
from server.db.engine import DatabaseLimits
from server.db.store import Store
from server.errors import StorageFailed
from server.live.arrive.enrolment import ArrivingWorker, enrol
from server.recruiters.arrival import Arrival
from server.session.records import Agreed
from tests.server.support.database import execute, make_run, query
from tests.server.support.study import AT
from tests.support import postgres as postgres_server
from tests.support.postgres import Postgres

pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def own() -> Iterator[Postgres]:
    """A server that a test may stop."""
    with postgres_server.serving() as server:
        yield server


@pytest.fixture
def url(own: Postgres) -> Iterator[str]:
    with own.database() as made:
        yield made


@pytest.fixture
def run(url: str) -> OpenRun:
    return make_run(url)


@pytest.fixture
def store(url: str, run: OpenRun) -> Iterator[Store]:
    opened = Store(url, DatabaseLimits(connections=2, statement_seconds=0.5))
    opened.start()
    yield opened
    opened.stop()


async def enrolled(store: Store, run: OpenRun, name: str) -> str:
    worker = ArrivingWorker(Arrival("link", name), f"W-{name}", False, 1.0)
    return (await store.submit(lambda connection: enrol(connection, run, worker, AT))).assignment


@pytest.mark.parametrize("ends", ["stop", "kill"])
async def test_a_server_that_is_stopped_and_started(
    own: Postgres, store: Store, run: OpenRun, url: str, ends: str
) -> None:
    assignment = await enrolled(store, run, "ann")
    await store.load(assignment)  # so that both engines hold a connection
    await asyncio.to_thread(getattr(own, ends))
    with pytest.raises(StorageFailed):
        await store.append(assignment, 0, [Agreed(AT, "while it is away")], AT)
    with pytest.raises(StorageFailed):
        await store.load(assignment)
    own.start()  # here: it ends with the thread that has started it
    await store.append(assignment, 0, [Agreed(AT, "when it is back")], AT)
    assert Agreed(AT, "when it is back") in await store.load(assignment)
    assert query(url, "SELECT id, agreed_by FROM assignment") == [(assignment, "when it is back")]


async def test_backends_that_are_killed_within_a_batch(store: Store, run: OpenRun, url: str) -> None:
    assignment = await enrolled(store, run, "ann")
    await store.load(assignment)

    def shot(connection: object) -> None:
        execute(
            url,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )

    shooting = asyncio.create_task(store.submit(shot))
    append = asyncio.create_task(store.append(assignment, 0, [Agreed(AT, "in the same batch")], AT))
    acknowledged = True
    try:
        await append
    except StorageFailed:
        acknowledged = False
    with suppress(StorageFailed):
        await shooting
    stored = query(url, "SELECT agreed_by FROM assignment") == [("in the same batch",)]
    assert stored == acknowledged
    await store.append(assignment, 0, [Agreed(AT, "afterwards")], AT)
    assert query(url, "SELECT agreed_by FROM assignment") == [("afterwards",)]


async def test_a_statement_that_takes_too_long_is_given_up(store: Store) -> None:
    forever = text("SELECT pg_sleep(100)")
    with pytest.raises(StorageFailed):
        await store.submit(lambda connection: connection.execute(forever).scalar())
    with pytest.raises(StorageFailed):
        await store.read(lambda connection: connection.execute(forever).scalar())
    assert await store.submit(lambda connection: 42) == 42


async def test_more_readers_than_connections_wait_and_are_then_told(store: Store) -> None:
    """Two connections, each taken for less than a reader waits; then each for longer."""
    short = text("SELECT pg_sleep(0.05)")

    async def read(query: object) -> object:
        return await store.read(lambda connection: connection.execute(query).rowcount)  # type: ignore[call-overload]

    assert await asyncio.gather(*(read(short) for _ in range(6))) == [1] * 6
    forever = [read(text("SELECT pg_sleep(100)")) for _ in range(6)]
    results = await asyncio.gather(*forever, return_exceptions=True)
    assert [type(result) for result in results] == [StorageFailed] * 6

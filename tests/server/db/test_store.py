"""The writer: grouped, durable before it answers, and able to live through every failure."""

import asyncio
import errno
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
import structlog
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError, NoResultFound

from server.bots.lineup import OpenRun
from server.db.runs.studies import create_study
from server.db.store import Store
from server.db.writer import StaleState
from server.errors import RunFull, StorageFailed, StudyExists
from server.live.arrive.enrolment import ArrivingWorker, enrol
from server.recruiters.arrival import Arrival
from server.session.instrument import Opinion
from server.session.records import (
    Agreed,
    BotSaid,
    Closed,
    FeedbackGiven,
    Incident,
    Record,
    TopicMarked,
    WorkerSaid,
)
from tests.server.support.database import execute, held_up, locked, query
from tests.server.support.study import AT
from tests.support.waiting import ENOUGH, PATIENCE

pytestmark = pytest.mark.databases("sqlite", "postgresql")

T = TypeVar("T")


async def enrolled(store: Store, run: OpenRun, name: str = "ann") -> str:
    worker = ArrivingWorker(Arrival("link", name), f"W-{name}", False, 1.0)
    taken = await store.submit(lambda connection: enrol(connection, run, worker, AT))
    return taken.assignment


def mark(assignment: str, ordinal: int = 0) -> TopicMarked:
    return TopicMarked(
        f"{assignment}-1.1", ordinal, 0, "the sea", Opinion.LIKE, None, None, AT, f"t{ordinal}"
    )


def said(assignment: str, index: int, words: str = "Hi.") -> WorkerSaid:
    return WorkerSaid(f"{assignment}-1.1", index, words, AT, f"s{index}")


def turns(url: str) -> list[int]:
    return [index for (index,) in query(url, "SELECT turn_index FROM turn ORDER BY turn_index")]


def gathered(calls: list[Awaitable[T]]) -> asyncio.Future[list[Any]]:
    return asyncio.gather(*calls, return_exceptions=True)


# ---- durability ------------------------------------------------------------------------------


@pytest.mark.databases("sqlite")
async def test_the_writer_waits_for_the_disk(store: Store, url: str) -> None:
    def pragmas(connection: Connection) -> tuple[Any, ...]:
        names = ("journal_mode", "synchronous", "foreign_keys")
        return tuple(connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names)

    assert await store.submit(pragmas) == ("wal", 2, 1)  # 2 = FULL


@pytest.mark.databases("postgresql")
async def test_the_writer_waits_for_the_disk_of_postgresql(store: Store) -> None:
    def setting(connection: Connection) -> Any:
        return connection.exec_driver_sql("SHOW synchronous_commit").scalar()

    assert await store.submit(setting) == "on"


@pytest.mark.databases("postgresql")
async def test_a_reader_sees_one_moment(store: Store, run: OpenRun, url: str) -> None:
    def read_twice(connection: Connection) -> tuple[Any, Any]:
        count = text("SELECT count(*) FROM bot")
        before = connection.execute(count).scalar_one()
        execute(url, "INSERT INTO bot (spec) VALUES ('another')")
        return before, connection.execute(count).scalar_one()

    before, after = await store.read(read_twice)
    assert before == after


async def test_every_append_is_visible_to_another_reader_before_it_returns(
    store: Store, run: OpenRun, url: str
) -> None:
    assignment = await enrolled(store, run)
    await store.append(assignment, 0, [mark(assignment)], AT)

    async def append(index: int) -> None:
        await store.append(assignment, 0, [said(assignment, index)], AT)
        assert index in await asyncio.to_thread(turns, url)

    await asyncio.gather(*(append(index) for index in range(40)))
    assert turns(url) == list(range(40))


async def test_what_waits_while_a_commit_runs_is_one_commit(store: Store, run: OpenRun, url: str) -> None:
    assignment = await enrolled(store, run)
    async with held_up(store) as held:
        before = store.commits
        appends = [
            asyncio.create_task(store.append(assignment, 0, [said(assignment, index)], AT))
            for index in range(200)
        ]
    await asyncio.gather(*appends)
    assert store.commits - before == held + 1  # one for the two hundred that gathered
    assert turns(url) == list(range(200))


async def test_nothing_is_visible_and_nobody_is_told_before_the_commit(
    store: Store, run: OpenRun, url: str
) -> None:
    assignment = await enrolled(store, run)
    async with held_up(store):
        append = asyncio.create_task(store.append(assignment, 0, [said(assignment, 0)], AT))
        for _ in range(5):  # looks at the database, each of which takes longer than telling
            assert await asyncio.to_thread(turns, url) == []
            assert not append.done()
    await append
    assert await asyncio.to_thread(turns, url) == [0]


async def test_a_stop_writes_what_is_waiting(url: str, run: OpenRun) -> None:
    store = Store(url)
    store.start()

    assignment = await enrolled(store, run)
    async with held_up(store):
        append = asyncio.create_task(store.append(assignment, 0, [said(assignment, 0)], AT))
        await asyncio.sleep(0)
        stopping = asyncio.create_task(asyncio.to_thread(store.stop))
    await append
    await stopping
    assert turns(url) == [0]


# ---- conflicts -------------------------------------------------------------------------------


async def test_a_turn_that_is_there_already_is_outdated_and_leaves_no_trace(
    store: Store, run: OpenRun, url: str
) -> None:
    assignment = await enrolled(store, run)
    await store.append(assignment, 0, [mark(assignment), said(assignment, 0, "first")], AT)
    with pytest.raises(StaleState):
        await store.append(assignment, 0, [said(assignment, 1), said(assignment, 0, "second")], AT)
    assert query(url, "SELECT turn_index, text FROM turn") == [(0, "first")]


@pytest.mark.parametrize("status", ["completed", "returned", "expired"])
async def test_a_closed_assignment_takes_no_more_records(
    store: Store, run: OpenRun, url: str, status: Any
) -> None:
    assignment = await enrolled(store, run)
    await store.append(assignment, 0, [Closed(status, AT)], AT)
    late: list[list[Record]] = [
        [Agreed(AT, "m1")],
        [mark(assignment)],
        [Incident(f"{assignment}-1.1", "bot_error", "late", AT)],
        [FeedbackGiven("late", AT, "m2"), Closed("completed", AT)],
    ]
    for records in late:
        with pytest.raises(StaleState, match="no longer active"):
            await store.append(assignment, 0, records, AT)
    assert query(url, "SELECT status, agreed_at, feedback FROM assignment") == [(status, None, None)]
    assert query(url, "SELECT count(*) FROM note") == query(url, "SELECT count(*) FROM topic_mark") == [(0,)]


@pytest.mark.parametrize("closing", ["expired", "returned"])
async def test_what_is_handed_in_stays_handed_in(store: Store, run: OpenRun, url: str, closing: Any) -> None:
    assignment = await enrolled(store, run)
    await store.append(assignment, 0, [FeedbackGiven("", AT, "m1"), Closed("completed", AT)], AT)
    with pytest.raises(StaleState):
        await store.append(assignment, 0, [Closed(closing, AT)], AT)
    assert query(url, "SELECT status FROM assignment") == [("completed",)]


async def test_an_append_counts_as_activity(store: Store, run: OpenRun, url: str) -> None:
    later = AT.replace(hour=13)

    assignment = await enrolled(store, run)
    await store.append(assignment, 0, [Agreed(later, "m1")], later)
    ((active_at,),) = query(url, "SELECT active_at FROM assignment")
    assert str(active_at).startswith("2026-01-01 13:00")


async def test_reading_an_assignment_that_is_not_there(store: Store) -> None:
    with pytest.raises(NoResultFound):
        await store.load("nothing")


# ---- failures within a batch -----------------------------------------------------------------


def fail(error: Exception) -> Callable[[Connection], None]:
    def work(_connection: Connection) -> None:
        raise error

    return work


async def test_a_session_that_ends_within_a_batch_takes_no_more_records_in_it(
    store: Store, run: OpenRun, url: str
) -> None:
    assignment, other = await enrolled(store, run), await enrolled(store, run, "other")
    async with held_up(store):
        batch = [
            asyncio.create_task(call)
            for call in (
                store.append(assignment, 0, [Closed("returned", AT)], AT),
                store.append(assignment, 0, [Agreed(AT, "late")], AT),
                store.append(other, 0, [Agreed(AT, "in time")], AT),
            )
        ]
    results = await gathered(batch)
    assert [type(result) for result in results] == [type(None), StaleState, type(None)]
    agreed = query(url, "SELECT id, agreed_by FROM assignment")
    assert set(agreed) == {(assignment, None), (other, "in time")}


async def test_a_job_that_fails_harms_nobody_elses(store: Store, run: OpenRun, url: str) -> None:
    assignment = await enrolled(store, run)
    await store.append(assignment, 0, [mark(assignment)], AT)
    async with held_up(store) as held:
        before = store.commits
        batch = [
            asyncio.create_task(call)
            for call in (
                store.append(assignment, 0, [said(assignment, 0)], AT),
                store.append(assignment, 0, [said(assignment, 0)], AT),  # twice the same turn
                store.submit(fail(ZeroDivisionError("a fault of the caller's"))),
                store.append(assignment, 0, [mark("nobody")], AT),  # of no conversation
                store.append(assignment, 0, [said(assignment, 1)], AT),
            )
        ]
    results = await gathered(batch)
    assert store.commits - before == 2 * held  # one batch of each writer, one commit
    first, twice, fault, orphan, last = list(results)
    assert first is None
    assert last is None
    assert isinstance(twice, StaleState)
    assert isinstance(fault, ZeroDivisionError)
    assert isinstance(orphan, StaleState)
    assert turns(url) == [0, 1]


async def test_what_failed_before_its_transaction_gave_way_is_told_as_it_went_then(store: Store) -> None:
    """A worker was refused the place that the other transaction had left, although it was theirs."""
    refused, yields = iter([True, True, False]), iter([True, False])

    def refused_at_first(_connection: Connection) -> str:
        if next(refused):
            raise RunFull("every place is held")
        return "a place"

    def gives_way_at_first(_connection: Connection) -> str:
        if next(yields):
            deadlock = Exception("deadlock detected")
            deadlock.sqlstate = "40P01"  # type: ignore[attr-defined]
            raise DBAPIError("", {}, deadlock)
        return "the next"

    async with held_up(store):
        both = [asyncio.create_task(store.submit(work)) for work in (refused_at_first, gives_way_at_first)]
    assert await gathered(both) == ["a place", "the next"]


async def test_what_was_done_beside_one_that_fails_is_done_again(store: Store, url: str) -> None:
    """Works of a commit share its transaction: what the first two have done is undone with it."""
    times: Counter[str] = Counter()

    def adds(spec: str) -> Callable[[Connection], int]:
        def work(connection: Connection) -> int:
            times[spec] += 1
            connection.execute(text("INSERT INTO bot (spec) VALUES (:spec)"), {"spec": spec})
            return times[spec]

        return work

    async with held_up(store):
        works = (adds("one"), adds("two"), fail(RunFull("every place is held")), adds("three"))
        all_ = [asyncio.create_task(store.submit(work)) for work in works]
    one, two, refused, three = await gathered(all_)
    assert (one, two, three) == (2, 2, 1)
    assert isinstance(refused, RunFull)
    rows = query(url, "SELECT spec FROM bot WHERE spec IN ('one', 'two', 'three') ORDER BY id")
    assert rows == [("one",), ("two",), ("three",)]


async def test_a_caller_that_has_gone_away_stops_nobody(store: Store, run: OpenRun, url: str) -> None:
    assignment = await enrolled(store, run)
    async with held_up(store):
        gone = asyncio.create_task(store.append(assignment, 0, [said(assignment, 0)], AT))
        await asyncio.sleep(0)
        gone.cancel()
        stays = asyncio.create_task(store.append(assignment, 0, [said(assignment, 1)], AT))
    await stays
    assert 1 in turns(url)


def test_a_loop_that_has_gone_away_stops_nobody(store: Store, run: OpenRun) -> None:
    """A caller whose whole event loop is closed cannot be told; the writer lives on."""
    begun, go_on = threading.Event(), threading.Event()

    def wait(_connection: Connection) -> None:
        begun.set()
        assert go_on.wait(PATIENCE)

    async def abandon() -> None:
        task = asyncio.create_task(store.submit(wait))
        await asyncio.to_thread(begun.wait, PATIENCE)
        task.cancel()

    asyncio.run(abandon())  # the loop, which is this test's own, is closed when this returns
    go_on.set()
    assert asyncio.run(store.submit(lambda connection: 42)) == 42


@pytest.mark.databases("postgresql")
async def test_who_comes_second_is_told_what_the_first_has_stored(
    store: Store, run: OpenRun, url: str
) -> None:
    """Two processes look, find nothing and store the same: the second one waits, and looks again."""
    elsewhere = Store(url)
    elsewhere.start()
    looked, go_on = threading.Event(), threading.Event()

    def first(connection: Connection) -> None:
        create_study(connection, "gulls", "title: Gulls", AT, "Ann")
        looked.set()
        assert go_on.wait(PATIENCE)

    one = asyncio.create_task(store.submit(first))
    await asyncio.to_thread(looked.wait, PATIENCE)
    two = asyncio.create_task(
        elsewhere.submit(lambda connection: create_study(connection, "gulls", "title: Terns", AT, "Bob"))
    )
    blocked = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
    while not await store.read(lambda connection: connection.execute(blocked).scalar_one()):  # noqa: ASYNC110 - only the database knows
        await asyncio.sleep(0.01)
    go_on.set()
    await one
    with pytest.raises(StudyExists):
        await two
    elsewhere.stop()


# ---- a database that does not take it --------------------------------------------------------


async def test_a_locked_database_is_a_storage_failure_and_passes(
    store: Store, run: OpenRun, url: str
) -> None:
    assignment = await enrolled(store, run)
    async with locked(url, store):
        with pytest.raises(StorageFailed):
            await store.append(assignment, 0, [said(assignment, 0)], AT)
    await store.append(assignment, 0, [said(assignment, 0)], AT)
    assert turns(url) == [0]


async def test_a_log_that_takes_no_line_stops_no_writing(store: Store, run: OpenRun, url: str) -> None:
    """As where the disk that is full has the log, too."""

    def full(*_: object) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    assignment = await enrolled(store, run)
    async with locked(url, store):
        structlog.configure(processors=[full])
        try:
            with pytest.raises(StorageFailed):
                await asyncio.wait_for(store.append(assignment, 0, [said(assignment, 0)], AT), PATIENCE)
        finally:
            structlog.reset_defaults()
    await asyncio.wait_for(store.append(assignment, 0, [said(assignment, 0)], AT), PATIENCE)
    assert turns(url) == [0]


@pytest.mark.databases("sqlite")
async def test_a_read_only_database_can_be_read_and_says_that_it_cannot_be_written(
    store: Store, run: OpenRun, url: str
) -> None:
    assignment = await enrolled(store, run)
    reader = Store(f"sqlite:///file:{url.removeprefix('sqlite:///')}?mode=ro&uri=true")
    reader.start()

    with pytest.raises(StorageFailed):
        await reader.append(assignment, 0, [said(assignment, 0)], AT)
    assert len(await reader.load(assignment)) == 4  # the planned conversations
    reader.stop()
    assert turns(url) == []


@pytest.mark.databases("sqlite")
async def test_a_full_disk_loses_nothing_that_was_acknowledged(store: Store, run: OpenRun, url: str) -> None:
    """SQLite rolls the whole transaction back when the disk is full, so the whole batch has failed."""

    assignment = await enrolled(store, run)
    await store.append(assignment, 0, [mark(assignment)], AT)

    def fill(connection: Connection) -> None:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")

    await store.submit(fill)
    async with held_up(store):
        batch = [
            asyncio.create_task(store.append(assignment, 0, [record], AT))
            for record in (
                said(assignment, 0),
                said(assignment, 1, "x" * 1_000_000),  # finds no room
                said(assignment, 2),
            )
        ]
    results = list(await gathered(batch))
    kept = await asyncio.to_thread(turns, url)
    await store.submit(lambda connection: connection.exec_driver_sql("PRAGMA max_page_count=100000"))
    # And afterwards everything that was refused can be sent again.
    for index, result in enumerate(results):
        if result is not None:
            await store.append(assignment, 0, [said(assignment, index)], AT)
    assert isinstance(results[1], StorageFailed)
    assert kept == [index for index, result in enumerate(results) if result is None]
    assert turns(url) == [0, 1, 2]


async def test_a_statement_that_the_database_refuses_is_a_storage_failure(store: Store, run: OpenRun) -> None:
    with pytest.raises(StorageFailed):
        await store.submit(lambda connection: connection.execute(text("INSERT INTO nowhere VALUES (1)")))
    assert (await store.submit(lambda connection: 42)) == 42


@pytest.mark.parametrize("ask", ["read", "look_up", "submit"])
async def test_a_database_that_has_gone_is_a_storage_failure(tmp_path: Path, ask: str) -> None:
    store = Store(f"sqlite:///{tmp_path / 'no' / 'such' / 'folder.db'}")
    store.start()
    with pytest.raises(StorageFailed):
        await getattr(store, ask)(lambda connection: connection.exec_driver_sql("SELECT 1").scalar())
    store.stop()


async def test_a_bots_line_comes_back_as_it_was(store: Store, run: OpenRun) -> None:
    awkward = "Zoë says: \"’tis\" \t fine,\n日本 🦉 'quoted'; DROP TABLE turn; --"

    assignment = await enrolled(store, run)
    bot = BotSaid(f"{assignment}-1.1", 1, awkward, AT, AT.replace(microsecond=123456), 17)
    lines = [mark(assignment), said(assignment, 0, awkward), bot]
    await store.append(assignment, 0, [Agreed(AT, "m0"), *lines], AT)
    worker, bot = [r for r in await store.load(assignment) if isinstance(r, WorkerSaid | BotSaid)]
    assert worker.text == bot.text == awkward
    assert isinstance(bot, BotSaid)
    assert bot.show_at == AT.replace(microsecond=123456)


async def test_an_update_from_outside_is_seen_by_the_next_read(store: Store, run: OpenRun, url: str) -> None:
    assignment = await enrolled(store, run)
    await asyncio.to_thread(execute, url, "UPDATE assignment SET status='expired', ended_at=created_at")
    assert (await store.load(assignment))[-1] == Closed("expired", AT)


async def test_work_that_ends_in_stop_iteration_keeps_nobody_waiting(store: Store) -> None:
    def stops(_: Connection) -> None:
        raise StopIteration

    first, second = await asyncio.wait_for(
        asyncio.gather(store.submit(stops), store.submit(lambda _: "done"), return_exceptions=True), ENOUGH
    )
    assert isinstance(first, RuntimeError)
    assert second == "done"

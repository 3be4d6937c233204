"""Jobs as rows, one at a time of a kind and a subject; work under a lease, which stops once it is lost."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy import Connection

from server.bots.lineup import OpenRun
from server.clock import utc_now
from server.db import jobs
from server.db.engine import open_engine
from server.db.jobs import Lease
from server.db.store import Store
from server.errors import JobNotFound, JobUnderWay
from tests.server.support.database import execute
from tests.server.support.study import AT

pytestmark = pytest.mark.databases("sqlite", "postgresql")
LATER = AT + timedelta(seconds=jobs.LEASE_SECONDS + 1)


@pytest.fixture
def connection(url: str) -> Iterator[Connection]:
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def test_a_lease_has_one_holder_until_it_runs_out(connection: Connection) -> None:
    assert jobs.take_lease(connection, "analysis", "one", AT)
    assert not jobs.take_lease(connection, "analysis", "two", AT)
    assert jobs.take_lease(connection, "analysis", "one", AT)
    assert jobs.take_lease(connection, "reports", "two", AT)
    assert jobs.take_lease(connection, "analysis", "two", LATER)
    assert not jobs.take_lease(connection, "analysis", "one", LATER)
    jobs.release_lease(connection, "two")
    assert jobs.take_lease(connection, "analysis", "one", LATER)


def test_a_job_from_its_beginning_to_its_end(run: OpenRun, connection: Connection) -> None:
    jobs.begin_job(connection, "j1", "report", run.id, run.slug, {"alpha": 0.1}, AT)
    with pytest.raises(JobUnderWay, match="A report of “harbour” is under way"):
        jobs.begin_job(connection, "j2", "report", run.id, run.slug, {}, AT)
    jobs.begin_job(connection, "j3", "rehearsal", run.id, run.slug, {}, AT)
    jobs.note_progress(connection, "j1", "Reading", 1, 7, AT)
    under_way = jobs.find_job(connection, "j1")
    assert (under_way.run, under_way.status, under_way.options) == (run.slug, "running", {"alpha": 0.1})
    assert (under_way.step, under_way.done, under_way.total) == ("Reading", 1, 7)
    jobs.end_job(connection, "j1", "done", LATER, result={"files": []})
    done = jobs.find_job(connection, "j1")
    assert (done.status, done.ended_at, done.result) == ("done", LATER, {"files": []})
    jobs.begin_job(connection, "j2", "report", run.id, run.slug, {}, LATER)
    assert [job.id for job in jobs.jobs_of(connection, "report", [run.id])] == ["j2", "j1"]
    jobs.forget_jobs(connection, ["j1"])
    with pytest.raises(JobNotFound):
        jobs.find_job(connection, "j1")


def test_a_job_whose_process_is_gone_has_failed(run: OpenRun, connection: Connection) -> None:
    jobs.begin_job(connection, "j1", "report", run.id, run.slug, {}, AT)
    jobs.begin_job(connection, "j2", "rehearsal", run.id, run.slug, {}, AT)
    jobs.note_progress(connection, "j2", "still here", 1, 2, LATER)
    jobs.end_abandoned(connection, LATER)
    gone = jobs.find_job(connection, "j1")
    assert gone.status == "failed"
    assert "has ended before it was done" in str(gone.error)
    assert jobs.find_job(connection, "j2").status == "running"
    jobs.end_job(connection, "j1", "done", LATER)  # it was only slow: what was said of it stays
    assert jobs.find_job(connection, "j1").status == "failed"


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

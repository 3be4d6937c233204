"""The running analysis: made when ratings come in, by one process at a time, in a real child process."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from server.bots.lineup import OpenRun
from server.clock import utc_now
from server.db.engine import open_engine
from server.db.jobs import Lease, release_lease, take_lease
from server.db.runs.analyses import find_analysis, find_points, store_analysis
from server.db.store import Store
from server.jobs import reports as analyses_module
from server.jobs.child import ChildCommand, ChildLimits
from server.jobs.reports import LEASE, RunningAnalyses
from tests.server.support.database import execute, query
from tests.server.support.server import House
from tests.support.waiting import wait_until

LIMITS = ChildLimits(megabytes=4096, seconds=120)


def analysis(url: str, run: OpenRun) -> Any:
    engine = open_engine(url)
    with engine.connect() as connection:
        found = find_analysis(connection, run.id)
    engine.dispose()
    return found


def test_a_server_analyses_what_comes_in(url: str, run: OpenRun, serve: Callable[..., House]) -> None:
    house = serve(url, run, running_analysis=True)
    with house.page("ann") as page:
        page.whole()
    wait_until(lambda: (analysis(url, run) or {}).get("ratings") == 12, "an analysis of 4 × 3 ratings")
    found = analysis(url, run)
    assert found["pass_rate"]["passed"] + found["pass_rate"]["failed"] == 1
    assert [worker["conversations"] for worker in found["workers"]] == [4]
    assert found["widest"] is None
    told = house.desk(f"/runs/{run.slug}/narrowing").json()
    assert told["target"] is None
    assert told["points"][-1]["ratings"] == 12
    by_system = {score["system"]: score["z"] for score in told["points"][-1]["scores"]}
    assert by_system == {score["system"]: score["z"] for score in found["scores"]}


def test_of_many_looks_some_are_shown_the_last_among_them(url: str, run: OpenRun) -> None:
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        for ratings in range(1, 31):
            content = json.dumps({"ratings": ratings, "scores": []})
            store_analysis(connection, run.id, utc_now(), f"rated={ratings}", content)
        # Of 30 looks every third one is kept, counted from the last.
        assert [ratings for ratings, _ in find_points(connection, run.id, 10)] == list(range(3, 31, 3))
        assert len(find_points(connection, run.id, 29)) == 15
    engine.dispose()


async def test_it_looks_at_what_is_new_while_nobody_else_does(
    url: str, run: OpenRun, serve: Callable[..., House]
) -> None:
    house = serve(url, run)
    with house.page("ann") as page:
        page.whole()
    house.stop()
    store = Store(url)
    store.start()
    analyses = RunningAnalyses(store, url, LIMITS, share=1.0)
    assert await store.submit(lambda c: take_lease(c, LEASE, "another process", utc_now()))
    await analyses.look()
    assert analysis(url, run) is None
    await store.submit(lambda c: release_lease(c, "another process"))
    await analyses.look()
    assert analysis(url, run)["ratings"] == 12
    before = query(url, "SELECT at FROM analysis")
    await RunningAnalyses(
        store, url, LIMITS, share=1.0
    ).look()  # of another process: nothing is new to it either
    assert query(url, "SELECT at FROM analysis") == before
    store.stop()


async def test_a_process_that_has_lost_the_lease_while_its_child_works_stores_nothing(
    url: str, run: OpenRun, serve: Callable[..., House], monkeypatch: pytest.MonkeyPatch
) -> None:
    house = serve(url, run)
    with house.page("ann") as page:
        page.whole()
    house.stop()
    begun, ended = asyncio.Event(), asyncio.Event()

    async def child(_command: ChildCommand, _limits: ChildLimits, _hear: Callable[[str], None]) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    monkeypatch.setattr(analyses_module, "run_child", child)
    store = Store(url)
    store.start()
    lease = Lease(store, LEASE, renewed_every=0.01)
    looking = asyncio.create_task(RunningAnalyses(store, url, LIMITS, lease=lease).look())
    await begun.wait()
    execute(url, "UPDATE job_lease SET holder = 'another', until = '2999-01-01 00:00:00.000000'")
    await looking  # without the lease it ends, though its child would go on for ever
    assert ended.is_set()
    assert analysis(url, run) is None
    assert query(url, "SELECT holder FROM job_lease") == [("another",)]
    store.stop()

"""Tests of reading the counts by which slots are assigned."""

import pytest

from server.bots.lineup import OpenRun
from server.db import counts
from server.db.store import Store
from server.live.arrive.enrolment import ArrivingWorker, enrol
from server.recruiters.arrival import Arrival
from tests.server.support.database import execute, query
from tests.server.support.study import AT

pytestmark = pytest.mark.databases("sqlite", "postgresql")


async def test_positions_are_read_whatever_systems_are_called(url: str, run: OpenRun) -> None:
    """Systems of imported items may have any name without a blank."""
    store = Store(url)
    store.start()
    assert await store.read(lambda c: counts.positions(c, run.id, simulated=False)) == {}
    worker = ArrivingWorker(Arrival("link", "ann"), "W-ann", False, 1.0)
    await store.submit(lambda connection: enrol(connection, run, worker, AT))
    execute(url, "UPDATE system SET name = 'org/llama3:8b:' || name")
    read = await store.read(lambda c: counts.positions(c, run.id, simulated=False))
    store.stop()
    joined = (
        "SELECT system.name, position, number FROM plan_count JOIN system ON system.id = plan_count.system_id"
    )
    assert read == {(name, position): number for name, position, number in query(url, joined)}
    assert len(read) == 4

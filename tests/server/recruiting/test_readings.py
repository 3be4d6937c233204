"""Of several processes that read a study at once, the reading that began last counts."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from server.clock import utc_now
from server.config import RecruiterAccess
from server.db.recruiting.recruitments import StoredRecruitment, open_recruitments
from server.db.store import Store
from server.errors import PlatformFailed
from server.recruiting.platform import Platform
from server.recruiting.studies import PlatformStudies
from tests.server.support.database import execute
from tests.server.support.recruiting import Recruiting
from tests.server.support.server import stored

pytestmark = pytest.mark.databases("sqlite", in_soak=["postgresql"])
SUBMISSIONS = "SELECT status FROM submission ORDER BY started_at, id"


class SlowStore(Store):
    """Writes nothing before it is let."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.reached, self.goes_on = asyncio.Event(), asyncio.Event()

    async def submit(self, work: Any) -> Any:
        self.reached.set()
        await self.goes_on.wait()
        return await super().submit(work)


class Process:
    """What a process has that reads studies."""

    def __init__(self, recruiting: Recruiting, store: Store, token: str | None = None) -> None:
        self.store = store
        prolific = recruiting.prolific
        platform = Platform({"prolific": RecruiterAccess(prolific.url, token or prolific.token)})
        self._studies = PlatformStudies(store, platform, "https://lab.example")

    async def read(self, found: StoredRecruitment) -> None:
        await self._studies.refresh(found)


async def found_in(store: Store) -> StoredRecruitment:
    (found,) = await store.read(open_recruitments)
    return found


async def test_an_older_reading_does_not_take_the_place_of_a_newer_one(recruiting: Recruiting) -> None:
    platform, study = recruiting.prolific.platform, recruiting.publish()
    ann = platform.reserve(study, "PID-ann")
    recruiting.house.stop()
    slow, quick = SlowStore(recruiting.house.url), Store(recruiting.house.url)
    slow.start()
    quick.start()
    found = await found_in(quick)
    older = asyncio.create_task(Process(recruiting, slow).read(found))
    await slow.reached.wait()  # it has read that Ann's place is reserved
    platform.open(ann.id)
    platform.reserve(study, "PID-bob")
    platform.move_study(study, "PAUSE")
    await Process(recruiting, quick).read(found)
    slow.goes_on.set()
    await older
    assert stored(recruiting.house, SUBMISSIONS) == [("ACTIVE",), ("RESERVED",)]
    assert stored(recruiting.house, "SELECT status FROM recruitment") == [("PAUSED",)]
    slow.stop()
    quick.stop()


async def test_why_an_older_reading_failed_is_not_said_of_a_newer_one(recruiting: Recruiting) -> None:
    recruiting.publish()
    recruiting.house.stop()
    slow, quick = SlowStore(recruiting.house.url), Store(recruiting.house.url)
    slow.start()
    quick.start()
    found = await found_in(quick)
    older = asyncio.create_task(Process(recruiting, slow, token="revoked").read(found))
    await slow.reached.wait()
    await Process(recruiting, quick).read(found)
    slow.goes_on.set()
    with pytest.raises(PlatformFailed):
        await older
    assert stored(recruiting.house, "SELECT fault FROM recruitment") == [(None,)]
    slow.stop()
    quick.stop()


async def test_a_reading_of_a_clock_that_was_set_back_since_keeps_no_other_from_counting(
    recruiting: Recruiting,
) -> None:
    ann = recruiting.prolific.platform.reserve(recruiting.publish(), "PID-ann")
    recruiting.refreshed()
    recruiting.house.stop()
    later = utc_now() + timedelta(hours=1)
    for table in ("recruitment", "submission"):
        execute(recruiting.house.url, f"UPDATE {table} SET read_at = ?", later)  # noqa: S608
    recruiting.prolific.platform.open(ann.id)
    store = Store(recruiting.house.url)
    store.start()
    await Process(recruiting, store).read(await found_in(store))
    assert stored(recruiting.house, SUBMISSIONS) == [("ACTIVE",)]
    store.stop()

"""The server reads published studies by itself, in one process of those that serve."""

import pytest

from server.config import Settings
from server.db.recruiting.recruitments import StoredRecruitment, open_recruitments
from server.db.store import Store
from server.recruiting.listening import Polling
from server.recruiting.platform import platform_of
from server.recruiting.studies import PlatformStudies
from tests.server.support.recruiting import Recruiting
from tests.server.support.server import stored
from tests.support.waiting import wait_until


def test_what_happens_on_the_platform_is_known_without_anybody_asking(recruiting: Recruiting) -> None:
    study = recruiting.publish()
    recruiting.prolific.platform.reserve(study, "PID-ann")
    # A server looks as it begins: the one before has given its lease up.
    recruiting.house.stop()
    assert stored(recruiting.house, "SELECT name FROM job_lease") == []
    recruiting.house.start()
    wait_until(lambda: len(recruiting.shown()["submissions"]) == 1, "the first look")
    assert recruiting.shown()["fault"] is None


async def test_one_process_looks_and_the_others_do_not(recruiting: Recruiting) -> None:
    study = recruiting.publish()
    recruiting.house.stop()
    recruiting.prolific.platform.reserve(study, "PID-ann")
    settings = Settings(prolific_token=recruiting.prolific.token, prolific_api=recruiting.prolific.url)
    store, platform = Store(recruiting.house.url), platform_of(settings)
    store.start()
    one, other = (
        Polling(store, platform, PlatformStudies(store, platform, "https://lab.example")) for _ in range(2)
    )
    await one.look()
    recruiting.prolific.platform.reserve(study, "PID-bob")
    await other.look()
    assert stored(recruiting.house, "SELECT count(*) FROM submission") == [(1,)]
    await one.look()
    assert stored(recruiting.house, "SELECT count(*) FROM submission") == [(2,)]
    store.stop()


class FaultyOnce(PlatformStudies):
    """Meets a fault of ours with the first study that it reads."""

    reads = 0

    async def refresh(self, found: StoredRecruitment) -> None:
        self.reads += 1
        if self.reads == 1:
            raise KeyError(found.study)
        await super().refresh(found)


async def test_a_fault_with_one_study_keeps_no_other_from_being_read(
    recruiting: Recruiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    recruiting.prolific.platform.reserve(recruiting.publish(), "PID-ann")
    recruiting.house.stop()
    asked_of = "server.recruiting.listening.open_recruitments"
    monkeypatch.setattr(asked_of, lambda connection: 2 * open_recruitments(connection))
    settings = Settings(prolific_token=recruiting.prolific.token, prolific_api=recruiting.prolific.url)
    store, platform = Store(recruiting.house.url), platform_of(settings)
    store.start()
    with pytest.raises(ExceptionGroup, match="studies were not read") as raised:
        await Polling(store, platform, FaultyOnce(store, platform, "https://lab.example")).look()
    assert raised.group_contains(KeyError)
    assert stored(recruiting.house, "SELECT count(*) FROM submission") == [(1,)]
    store.stop()

"""The server reads published studies by itself, in one process of those that serve."""

from server.config import Settings
from server.db.store import Store
from server.recruiting.platform import platform_of
from server.recruiting.polling import Polling
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

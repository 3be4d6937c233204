"""Workers download and withdraw what they gave, as long as their study says."""

from collections.abc import Callable
from datetime import timedelta

import httpx2
import pytest

from server.clock import utc_now
from tests.server.support.answers import error
from tests.server.support.database import audit, execute, make_run, query
from tests.server.support.server import House, stored
from tests.server.support.study import RATINGS, SYSTEMS, study_text

pytestmark = pytest.mark.databases("sqlite", "postgresql")


def finished(url: str, serve: Callable[..., House], **settings: object) -> tuple[House, str]:
    """Return a server where Ann has finished, and her token."""
    house = serve(url, make_run(url, study_text(**settings)))
    with house.page("ann") as page:
        page.whole()
    return house, house.token("ann")


def post(house: House, what: str, token: str) -> httpx2.Response:
    return house.http("POST", f"/api/own-data/{what}", json={"token": token})


def test_a_worker_reads_what_they_gave_and_takes_it_back(url: str, serve: Callable[..., House]) -> None:
    house, token = finished(url, serve, withdrawal_days=7)
    given = post(house, "download", token)
    assert given.status_code == 200, given.text
    content = given.json()
    assert len(content["conversations"]) == 4
    first = content["conversations"][0]
    assert first["topics"] == ["the sea"]
    assert [line["who"] for line in first["lines"]] == ["you", "partner", "you", "partner"]
    assert first["ratings"] == RATINGS
    assert not any(system in given.text for system in SYSTEMS), "who the partners were stays hidden"
    assert post(house, "withdraw", token).status_code == 204
    assert (
        stored(house, "SELECT count(*) FROM rating") == stored(house, "SELECT count(*) FROM turn") == [(0,)]
    )
    assert stored(house, "SELECT extent, cause FROM removal") == [("all", "withdrawn")]
    assert stored(house, "SELECT reason FROM exclusion") == [("withdrawn by the worker",)]
    rows = stored(house, "SELECT kind, actor FROM audit_entry WHERE action = 'worker.withdraw'")
    assert rows == [("worker", "a worker")]
    assert audit(url) == []
    error(post(house, "download", token), 404, "assignment_not_found")
    with house.open(token) as page:  # they come back to their code
        assert page.snapshot["phase"] == "done"


@pytest.mark.databases("sqlite")
def test_its_time_is_the_studys(url: str, serve: Callable[..., House]) -> None:
    house, token = finished(url, serve, withdrawal_days=7)
    ago = (utc_now() - timedelta(days=7, minutes=1)).strftime("%Y-%m-%d %H:%M:%S.%f")
    execute(url, "UPDATE assignment SET ended_at = ?", ago)
    for what in ("download", "withdraw"):
        error(post(house, what, token), 403, "withdrawal_over")
    assert query(url, "SELECT count(*) FROM rating") == [(12,)]


@pytest.mark.databases("sqlite")
def test_without_the_setting_there_is_none(url: str, serve: Callable[..., House]) -> None:
    house, token = finished(url, serve)
    error(post(house, "withdraw", token), 403, "withdrawal_over")
    error(post(house, "withdraw", "no-token"), 401, "token_invalid")
    error(post(house, "download", house.token("bob")), 404, "assignment_not_found")

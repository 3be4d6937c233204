"""Tests of the desk's list of credits that SONA has not granted, and of requesting them again."""

from collections.abc import Callable, Iterator

import pytest

from server.recruiters.stand_in.serving import serving
from tests.server.support.answers import error
from tests.server.support.credits import make_course
from tests.server.support.server import House, stored
from tests.server.support.sona import SonaStandIn
from tests.server.support.study import AT, RUN
from tests.support.waiting import wait_until


@pytest.fixture
def course(url: str, serve: Callable[..., House]) -> Iterator[House]:
    """A server over a run whose students come from SONA, which knows all of them by now."""
    with serving(SonaStandIn(students={"late", "refused"}).app) as sona:
        house = serve(url, make_course(url), sona_url=sona)
        yield house
        house.stop()


def test_what_is_not_granted_is_shown_with_the_reason(course: House) -> None:
    shown = course.desk(f"/runs/{RUN}/credits").json()
    assert shown["asked_by_server"] is True
    found = {credit.pop("worker"): credit for credit in shown["credits"]}
    assert [found[name]["status"] for name in ("W-granted", "W-refused")] == ["granted", "refused"]
    assert found["W-refused"]["reason"] == "SONA says: [no]"
    assert found["W-refused"]["tried_at"] == AT.isoformat().replace("+00:00", "Z")


def test_the_server_asks_as_soon_as_it_runs(course: House) -> None:
    def late() -> str:
        found = course.desk(f"/runs/{RUN}/credits").json()["credits"]
        return str(next(credit["status"] for credit in found if credit["worker"] == "W-late"))

    wait_until(lambda: late() == "granted", "the credit")


def test_refused_ones_can_be_asked_for_again(course: House) -> None:
    answer = course.desk(f"/runs/{RUN}/credits/again", method="POST")
    assert answer.status_code == 200, answer.text
    assert "refused" not in {credit["status"] for credit in answer.json()["credits"]}
    (log,) = stored(course, "SELECT detail FROM audit_entry WHERE action = 'run.credits_again'")
    assert log == ("1 refused credits",)


def test_a_run_without_such_credits(house: House) -> None:
    assert house.desk(f"/runs/{RUN}/credits").json() == {"asked_by_server": False, "credits": []}
    error(house.desk("/runs/nowhere/credits"), 404, "run_not_found")

"""No table contains a forgotten worker's id (plain, hashed or encrypted) or pseudonym."""

import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from tests.server.support.answers import error
from tests.server.support.database import everything, make_run, query
from tests.server.support.server import House
from tests.server.support.study import RUN, study_text

pytestmark = pytest.mark.databases("sqlite", in_soak=["postgresql"])
ID = "PID-4711-of-somebody"
PROLIFIC: dict[str, Any] = {"kind": "prolific", "completion_code": "C1AB2CD3"}
CONNECT: dict[str, Any] = {"kind": "connect", "completion_code": "C1AB2CD3"}
SONA: dict[str, Any] = {
    "kind": "sona",
    "school": "example.sona-systems.com",
    "experiment_id": 1,
    "credit_token": "abc",
}
ARRIVALS: dict[str, tuple[dict[str, Any] | None, dict[str, str]]] = {
    "link": (None, {}),
    "prolific": (PROLIFIC, {"PROLIFIC_PID": ID, "STUDY_ID": "study", "SESSION_ID": "visit-0815"}),
    "connect": (CONNECT, {"participantId": ID, "assignmentId": "visit-0815"}),
    "sona": (SONA, {"survey_code": ID}),
}


def names(house: House, platform: str) -> set[str]:
    """Return everything by which somebody who knows the id, or has the secrets, could look them up."""
    digests = (hashlib.new(kind, ID.encode()).hexdigest() for kind in ("md5", "sha1", "sha256", "sha512"))
    return {ID, ID.lower(), house.kept(ID), house.auth.pseudonym(platform, ID), "visit-0815", *digests}


def found(house: House, platform: str, *but: str) -> set[str]:
    """Return which of these are somewhere in the database, but for some tables."""
    content = everything(house.url, *but)
    return {name for name in names(house, platform) if name in content}


@pytest.mark.parametrize("platform", ARRIVALS)
@pytest.mark.parametrize("extent", ["words", "all"])
def test_nobody_can_be_found_who_was_forgotten(
    url: str, serve: Callable[..., House], platform: str, extent: str
) -> None:
    recruiter, parameters = ARRIVALS[platform]
    house = serve(url, make_run(url, study_text(**({"recruiter": recruiter} if recruiter else {}))))
    joined = house.join(parameters=parameters) if parameters else house.join(ID)
    with house.open(joined.json()["token"]) as page:
        page.whole()
    listed = house.desk(f"/runs/{RUN}/rules", method="PUT", json={"excluded_workers": [ID]})
    assert listed.is_success, listed.text
    # No id is in plain text even before.
    assert found(house, platform) >= {house.kept(ID), house.auth.pseudonym(platform, ID)}
    assert ID not in found(house, platform)
    body = {"worker": ID, "extent": extent}
    assert house.desk("/workers/forget", method="POST", json=body).is_success
    assert found(house, platform) == set()


def test_who_came_by_another_way_than_the_one_named_stays_on_the_lists(
    url: str, serve: Callable[..., House]
) -> None:
    house = serve(url, make_run(url, study_text()))
    assert house.join(ID).is_success
    with house.open(house.token(ID)) as page:
        page.agree()
    house.desk(f"/runs/{RUN}/rules", method="PUT", json={"excluded_workers": [ID]})
    other = {"worker": ID, "platform": "prolific"}
    for path in ("/workers/holdings", "/workers/forget"):
        error(house.desk(path, method="POST", json=other), 404, "worker_not_found")
    assert query(url, "SELECT external_id FROM excluded_worker") == [(house.kept(ID),)]


def test_who_never_came_and_may_not_is_forgotten(url: str, serve: Callable[..., House]) -> None:
    house = serve(url, make_run(url, study_text()))
    house.desk(f"/runs/{RUN}/rules", method="PUT", json={"excluded_workers": [ID, "ann"]})
    who = {"worker": ID}
    held = house.desk("/workers/holdings", method="POST", json=who).json()
    assert (held["worker"], held["platform"], held["lists"], held["assignments"]) == (None, None, 1, 0)
    done = house.desk("/workers/forget", method="POST", json=who)
    assert done.json() == {"worker": None, "assignments": []}
    assert found(house, "link") == set()
    assert query(url, "SELECT external_id FROM excluded_worker") == [(house.kept("ann"),)]
    logged = query(url, "SELECT subject, detail FROM audit_entry WHERE action = 'worker.forget'")
    assert logged == [("a worker who never came", "out of lists of who may not come")]
    error(house.desk("/workers/forget", method="POST", json=who), 404, "worker_not_found")

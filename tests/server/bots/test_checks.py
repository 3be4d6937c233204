"""Checks of registered bots: begun, followed, stored; and what becomes of one that cannot be."""

import json
from typing import Any

import pytest

from server.bots.opened_bots import OpenedBots
from tests.server.support.answers import error
from tests.server.support.database import execute, query
from tests.server.support.registered import NOWHERE, bots, good, study
from tests.server.support.server import House
from tests.server.support.talker import Talker
from tests.support.waiting import wait_until


def checked(house: House, name: str) -> dict[str, Any]:
    """Wait for the end of a check; return its view."""
    wait_until(lambda: good(bots(house, path=f"/{name}/check"))["state"] != "running", "the check")
    return good(bots(house, path=f"/{name}/check"))


def test_a_bot_is_checked_in_the_background_and_the_report_kept(
    aviary: House, birds: dict[str, Talker]
) -> None:
    error(bots(aviary, path="/parrot/check"), 404, "not_checked")
    started = good(bots(aviary, "POST", "/parrot/check", json={"at_once": 2}), 202)
    assert (started["state"], started["report"], started["error"]) == ("running", None, None)
    over = checked(aviary, "parrot")
    assert (over["state"], over["error"]) == ("finished", None)
    report = over["report"]
    # Whatever it is asked, this bot says the same.
    assert report["verdict"] == "fail"
    assert report["calls"] == birds["parrot"].asked
    assert report["latency"]["at_once"]["conversations"] == 2
    assert good(bots(aviary, path="/parrot"))["check"] == {"at": over["at"], "verdict": "fail"}
    assert good(bots(aviary, path="/macaw"))["check"] is None
    aviary.stop()
    aviary.opened_bots = OpenedBots(
        refuse_private=False
    )  # a new process has a new one; the old one is closed
    aviary.start()
    assert checked(aviary, "parrot") == over


def test_a_bot_is_checked_for_the_study_that_is_given(aviary: House) -> None:
    german = study(language="de", assignments=3)
    good(bots(aviary, "POST", "/parrot/check", json={"study": german}), 202)
    report = checked(aviary, "parrot")["report"]
    assert report["scope"] == {"language": "de", "persona": False}
    assert report["latency"]["at_once"]["conversations"] == 3
    broken = german.replace("minimum_inputs: 3", "minimum_inputs: three")
    error(bots(aviary, "POST", "/parrot/check", json={"study": broken}), 422, "study_invalid")


def test_a_check_names_no_address_to_those_who_may_not_change_bots(house: House) -> None:
    good(bots(house, "POST", json={"name": "far", "endpoint": NOWHERE}), 201)
    good(bots(house, "POST", "/far/check"), 202)
    checked(house, "far")
    body = {"name": "reader", "scope": "researcher", "study": "lighthouse"}
    reader = house.desk("/tokens", method="POST", json=body).json()["token"]
    assert "127.0.0.1" in house.desk("/bots/far/check").text
    seen = house.desk("/bots/far/check", reader)
    assert good(seen)["state"] == "finished"
    assert "127.0.0.1" not in seen.text


def test_a_check_shows_its_progress_and_is_not_begun_twice(aviary: House, birds: dict[str, Talker]) -> None:
    birds["parrot"].freed.clear()
    first = good(bots(aviary, "POST", "/parrot/check"), 202)
    wait_until(lambda: good(bots(aviary, path="/parrot/check"))["total"] > 0, "the first call")
    again = good(bots(aviary, "POST", "/parrot/check"), 202)
    assert (again["state"], again["done"], again["at"]) == ("running", 0, first["at"])
    birds["parrot"].freed.set()
    assert checked(aviary, "parrot")["state"] == "finished"
    assert query(aviary.url, "SELECT count(*) FROM bot_check") == [(1,)]


def test_the_latest_check_is_shown_and_every_one_kept(aviary: House, birds: dict[str, Talker]) -> None:
    for _ in range(2):
        good(bots(aviary, "POST", "/parrot/check", json={"at_once": 1}), 202)
        checked(aviary, "parrot")
    ((last,),) = query(aviary.url, "SELECT report FROM bot_check ORDER BY id DESC LIMIT 1")
    assert checked(aviary, "parrot")["report"] == json.loads(last)
    assert query(aviary.url, "SELECT name, verdict FROM bot_check") == [("parrot", "fail")] * 2


def test_a_check_counts_for_no_later_bot_of_the_same_name(house: House, birds: dict[str, Talker]) -> None:
    body = {"name": "far", "endpoint": birds["parrot"].endpoint}
    good(bots(house, "POST", json=body), 201)
    good(bots(house, "POST", "/far/check", json={"at_once": 1}), 202)
    checked(house, "far")
    assert bots(house, "DELETE", "/far").status_code == 204
    assert good(bots(house, "POST", json=body), 201)["check"] is None
    error(bots(house, path="/far/check"), 404, "not_checked")
    assert query(house.url, "SELECT count(*) FROM bot_check") == [(1,)]


def test_a_bot_that_is_deleted_while_it_is_checked(house: House, birds: dict[str, Talker]) -> None:
    body = {"name": "far", "endpoint": birds["parrot"].endpoint}
    good(bots(house, "POST", json=body), 201)
    birds["parrot"].freed.clear()
    good(bots(house, "POST", "/far/check"), 202)
    assert bots(house, "DELETE", "/far").status_code == 204
    good(bots(house, "POST", json=body), 201)
    error(bots(house, path="/far/check"), 404, "not_checked")


def test_a_disabled_bot_is_not_checked(aviary: House) -> None:
    good(bots(aviary, "PATCH", "/parrot", json={"enabled": False}))
    error(bots(aviary, "POST", "/parrot/check"), 409, "bot_disabled")


@pytest.mark.parametrize("at_once", [0, 65, -1, 1.5, "many"])
def test_a_check_with_too_many_at_once(aviary: House, at_once: Any) -> None:
    answer = bots(aviary, "POST", "/parrot/check", json={"at_once": at_once})
    assert "at_once" in error(answer, 422, "invalid_request")["message"]


def test_a_check_that_cannot_be_stored_says_so(aviary: House) -> None:
    execute(aviary.url, "DROP TABLE bot_check")
    execute(
        aviary.url,
        "CREATE VIEW bot_check AS SELECT 1 AS id, '' AS name, '' AS at, '' AS verdict, '' AS report",
    )
    good(bots(aviary, "POST", "/parrot/check", json={"at_once": 1}), 202)
    over = checked(aviary, "parrot")
    assert over["state"] == "failed"
    assert "could not store" in over["error"]


def test_a_server_stops_in_the_middle_of_a_check(aviary: House, birds: dict[str, Talker]) -> None:
    birds["parrot"].freed.clear()
    good(bots(aviary, "POST", "/parrot/check"), 202)
    wait_until(lambda: birds["parrot"].asked, "the first question")
    aviary.stop()
    assert query(aviary.url, "SELECT count(*) FROM bot_check") == [(0,)]

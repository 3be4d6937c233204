"""Workers who come from a platform: the same person has the same place, and is sent back as it asks."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.server.support.answers import error
from tests.server.support.database import audit, make_run
from tests.server.support.items import ITEMS_RUN, QUESTIONS, items_text, make_items_run
from tests.server.support.page import Page
from tests.server.support.server import House, stored
from tests.server.support.study import RUN, study_text

BACK = "https://app.prolific.com/submissions/complete?cc=C1AB2CD3"


@pytest.fixture
def recruited(url: str, serve: Callable[..., House]) -> House:
    """A server over a run of a study on Prolific."""
    study = study_text(recruiter={"kind": "prolific", "completion_code": "C1AB2CD3"})
    return serve(url, make_run(url, study))


def come(house: House, person: str, visit: str, **fields: Any) -> dict[str, Any]:
    parameters = {"PROLIFIC_PID": person, "STUDY_ID": "s", "SESSION_ID": visit}
    answer = house.join(parameters=parameters, **fields)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_a_finished_worker_is_sent_back_with_the_platforms_code(recruited: House) -> None:
    with recruited.open(come(recruited, "5f3a", "v1")["token"]) as page:
        done = page.whole()
    assert (done["code"], done["return_to"]) == ("C1AB2CD3", BACK)
    (found,) = recruited.desk(f"/runs/{RUN}/worker-ids").json()["workers"]
    assert found["platform"] == "prolific"
    assert (found["external_id"], found["visit"], found["completion_code"]) == ("5f3a", "v1", "C1AB2CD3")


def test_who_comes_back_in_another_visit_has_the_same_place(recruited: House) -> None:
    with recruited.open(come(recruited, "5f3a", "v1")["token"]) as page:
        page.agree()
    with_token = come(recruited, "5f3a", "v1")
    again = come(recruited, "5f3a", "v2", token=None)
    assert with_token["assignment"] == again["assignment"]
    with recruited.open(again["token"]) as page:
        assert page.snapshot["phase"] != "instructions"
    assert stored(recruited, "SELECT count(*) FROM assignment") == [(1,)]
    assert stored(recruited, "SELECT visit FROM visit ORDER BY visit") == [("v1",), ("v2",)]
    (found,) = recruited.desk(f"/runs/{RUN}/worker-ids").json()["workers"]
    assert found["visit"] == "v2"


def test_who_finds_no_place_is_shown_the_way_back_without_a_code(recruited: House) -> None:
    parameters = {"PROLIFIC_PID": "5f3a", "STUDY_ID": "s", "SESSION_ID": "v1"}
    recruited.desk(f"/runs/{RUN}/pause", method="POST")
    refused = recruited.join(parameters=parameters).json()
    assert refused["error"]["code"] == "run_paused"
    assert refused["way_back"] == {"platform": "Prolific", "to": "https://app.prolific.com"}
    assert "C1AB2CD3" not in str(refused)
    assert recruited.join(worker="ann").json()["way_back"] is None  # who came from no platform
    recruited.desk(f"/runs/{RUN}/resume", method="POST")
    token = come(recruited, "5f3a", "v1")["token"]
    with recruited.open(token) as page:
        page.whole()
    recruited.desk(f"/runs/{RUN}/close", method="POST")
    closed = recruited.join(parameters=parameters | {"PROLIFIC_PID": "5f3b"}).json()
    assert (closed["error"]["code"], closed["way_back"]["platform"]) == ("run_closed", "Prolific")
    held = recruited.join(parameters=parameters, token=token).json()
    assert held.get("way_back") is None  # who has finished must not return the study


def test_who_agrees_too_late_is_shown_the_way_back_too(recruited: House) -> None:
    with recruited.open(come(recruited, "5f3a", "v1")["token"]) as page:
        recruited.desk(f"/runs/{RUN}/pause", method="POST")
        refused = page.ask("agree")
        assert refused["code"] == "run_paused"
        assert refused["way_back"] == {"platform": "Prolific", "to": "https://app.prolific.com"}
        assert page.refused("nonsense")["way_back"] is None  # which says nothing about a place
        recruited.desk(f"/runs/{RUN}/resume", method="POST")
        page.agree()
        again = page.ask("agree")
        assert (again["code"], again["way_back"]) == ("wrong_phase", None)  # who has one keeps it
    answer = recruited.join("ann", signature=recruited.auth.link_signature(RUN, "ann"))
    with recruited.open(answer.json()["token"]) as page:
        recruited.desk(f"/runs/{RUN}/pause", method="POST")
        assert page.ask("agree")["way_back"] is None  # who came from no platform


def test_another_person_has_another_place(recruited: House) -> None:
    tickets = {come(recruited, person, "v")["assignment"] for person in ("5f3a", "5f3b")}
    assert len(tickets) == 2


@pytest.mark.parametrize("fields", [{}, {"worker": "ann"}, {"parameters": {"PROLIFIC_PID": ""}}])
def test_who_comes_from_nowhere_is_not_let_in(recruited: House, fields: dict[str, Any]) -> None:
    said = error(recruited.join(**fields), 403, "link_unsigned")
    assert "prolific" in said["message"]
    assert stored(recruited, "SELECT count(*) FROM worker") == [(0,)]


def test_an_address_of_the_platform_that_does_not_name_one_person_says_why(recruited: House) -> None:
    unfilled = {"parameters": {"prolific_pid": "{{%PROLIFIC_PID%}}"}}
    assert "PROLIFIC_PID" in error(recruited.join(**unfilled), 403, "link_unfilled")["message"]
    error(recruited.join(doubled=["PROLIFIC_PID"]), 403, "link_ambiguous")
    both = {"PROLIFIC_PID": "5f3a", "prolific_pid": "5f3b"}
    error(recruited.join(parameters=both), 403, "link_ambiguous")


def test_who_has_a_place_may_come_back_by_the_bare_address(recruited: House) -> None:
    with recruited.open(come(recruited, "5f3a", "v1")["token"]) as page:
        page.agree()
    kept = come(recruited, "5f3a", "v1")
    assert recruited.join(token=kept["token"]).json()["assignment"] == kept["assignment"]


def test_a_tester_with_a_personal_link_is_let_in_and_sent_nowhere(recruited: House) -> None:
    answer = recruited.join("ann", signature=recruited.auth.link_signature(RUN, "ann"))
    with recruited.open(answer.json()["token"]) as page:
        done = page.whole()
    assert done["return_to"] is None
    assert done["code"] != "C1AB2CD3"


def leave_with_report(page: Page) -> dict[str, Any]:
    """Chat, report the reply, and leave with that; return what the worker is told."""
    page.agree()
    page.open_topic()
    page.say("Hello.")
    page.send("report", turn=1, reason="offensive", leave=True)
    return page.until("ended")


def test_who_leaves_with_a_report_has_the_code_of_who_has_finished(recruited: House) -> None:
    token = come(recruited, "5f3a", "v1")["token"]
    with recruited.open(token) as page:
        left = leave_with_report(page)
    assert (left["phase"], left["code"], left["return_to"]) == ("returned", "C1AB2CD3", BACK)
    with recruited.open(token) as page:
        assert (page.snapshot["code"], page.snapshot["return_to"]) == ("C1AB2CD3", BACK)
    assert audit(recruited.url) == []  # the place is free


# ---- partial completes on Connect -------------------------------------------------------------

COMPLETE, PARTIAL = "https://connect.example/complete", "https://connect.example/partial"
CONNECT = {"kind": "connect", "completion_url": COMPLETE, "partial_url": PARTIAL}
FROM_CONNECT = {"participantId": "P9", "assignmentId": "A1", "projectId": "X"}


def from_connect(house: House, **fields: Any) -> str:
    answer = house.join(parameters=FROM_CONNECT, **fields)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["token"])


def test_only_who_hands_in_is_a_complete_on_connect(url: str, serve: Callable[..., House]) -> None:
    house = serve(url, make_run(url, study_text(recruiter=CONNECT)))
    with house.open(from_connect(house)) as page:  # who does not agree may still come back
        page.send("leave")
        assert page.until("ended")["return_to"] == PARTIAL
    with house.open(from_connect(house)) as page:
        assert page.whole()["return_to"] == COMPLETE


def test_who_leaves_is_a_partial_complete_on_connect(url: str, serve: Callable[..., House]) -> None:
    house = serve(url, make_run(url, study_text(recruiter=CONNECT)))
    with house.open(from_connect(house)) as page:
        page.agree()
        page.send("leave")
        assert page.until("ended")["return_to"] == PARTIAL
    with house.open(from_connect(house)) as page:
        assert (page.snapshot["phase"], page.snapshot["return_to"]) == ("returned", PARTIAL)


def test_who_leaves_with_a_report_is_a_complete_on_connect(url: str, serve: Callable[..., House]) -> None:
    house = serve(url, make_run(url, study_text(recruiter=CONNECT)))
    with house.open(from_connect(house)) as page:
        assert leave_with_report(page)["return_to"] == COMPLETE


def test_who_fails_the_test_questions_is_a_partial_complete_on_connect(
    url: str, serve: Callable[..., House]
) -> None:
    house = serve(url, make_items_run(url, items_text(tutorial=QUESTIONS, recruiter=CONNECT)))
    with house.open(from_connect(house, run=ITEMS_RUN)) as page:
        page.send("agree")
        for _ in range(QUESTIONS["mistakes"] + 1):
            page.send("answer", question=1, answer=1)
        assert page.until("ended")["return_to"] == PARTIAL


def test_nobody_is_sent_anywhere_as_partial_who_did_not_come_from_connect(
    url: str, serve: Callable[..., House]
) -> None:
    house = serve(url, make_run(url, study_text(recruiter=CONNECT)))
    answer = house.join("ann", signature=house.auth.link_signature(RUN, "ann"))
    with house.open(answer.json()["token"]) as page:
        page.send("leave")
        assert page.until("ended")["return_to"] is None

"""Tests of completion codes: each way of ending early has its own code on the platform."""

from collections.abc import Callable
from typing import Any

import pytest

from bots import BotError
from tests.server.support.bots import Raises
from tests.server.support.database import make_run
from tests.server.support.page import Page
from tests.server.support.prolific import Prolific
from tests.server.support.recruiting import CODE, Recruiting
from tests.server.support.server import House
from tests.server.support.study import study_text


@pytest.fixture
def begin(url: str, prolific: Prolific, serve: Callable[..., House]) -> Callable[..., Recruiting]:
    """Return a function that publishes a study with some changes."""

    def start(bots: Any = None, **changes: Any) -> Recruiting:
        recruiter = {"kind": "prolific", "completion_code": CODE}
        run = make_run(url, study_text(recruiter=recruiter, **changes), bots)
        addresses = {"prolific_api": prolific.url, "prolific_site": "https://site.example"}
        recruiting = Recruiting(serve(url, run, prolific_token=prolific.token, **addresses), prolific)
        recruiting.publish()
        return recruiting

    return start


def code_in(recruiting: Recruiting, address: str) -> str:
    """Return the ending whose code an address has, as the study on the platform names its actions."""
    before, _, code = address.partition("?cc=")
    assert before == "https://site.example/submissions/complete"
    found = recruiting.prolific.platform.study(recruiting.shown()["study"]).code(code)
    assert found is not None
    return str(found["actions"][0]["action"])


def left(page: Page) -> str:
    page.send("leave")
    return str(page.until("ended")["return_to"])


def test_who_does_not_agree_is_asked_to_return_and_is_no_difference(begin: Callable[..., Recruiting]) -> None:
    recruiting = begin()
    submission, token = recruiting.arrive("PID-ann")
    with recruiting.house.open(token) as page:
        way = left(page)
    assert code_in(recruiting, way) == "REQUEST_RETURN"
    recruiting.prolific.platform.complete(submission, way.partition("?cc=")[2])
    view = recruiting.refreshed()
    assert [row["ending"] for row in view["submissions"]] == ["no_consent"]
    assert view["differences"] == []


def test_who_leaves_is_asked_to_return_and_after_a_reload_again(
    begin: Callable[..., Recruiting],
) -> None:
    recruiting = begin()
    submission, token = recruiting.arrive("PID-bob")
    with recruiting.house.open(token) as page:
        page.agree()
        way = left(page)
    with recruiting.house.open(token) as page:
        assert page.snapshot["return_to"] == way
    recruiting.prolific.platform.complete(submission, way.partition("?cc=")[2])
    assert [row["ending"] for row in recruiting.refreshed()["submissions"]] == ["returned"]


def test_who_was_failed_by_a_chatbot_is_reviewed_and_paid_in_part(begin: Callable[..., Recruiting]) -> None:
    recruiting = begin(Raises(BotError("out of order")), timeouts={"bot_try": 0.1, "bot_total": 0.1})
    submission, token = recruiting.arrive("PID-dee")
    with recruiting.house.open(token) as page:
        page.agree()
        page.open_topic()
        page.send("say", text="Hello?")
        page.until("replaced")
        way = left(page)
    assert code_in(recruiting, way) == "MANUALLY_REVIEW"
    recruiting.prolific.platform.complete(submission, way.partition("?cc=")[2])
    view = recruiting.refreshed()
    assert [row["ending"] for row in view["submissions"]] == ["our_failure"]
    (found,) = view["differences"]
    assert (found["kind"], found["remedy"], found["share"]) == ("stopped_by_us", "partial", 8)


def test_who_leaves_with_a_report_is_reviewed_and_paid_in_full(begin: Callable[..., Recruiting]) -> None:
    recruiting = begin()
    submission, token = recruiting.arrive("PID-eve")
    with recruiting.house.open(token) as page:
        page.agree()
        page.open_topic()
        page.say("Hello.")
        page.send("report", turn=1, reason="sexual", note="I want none of it.", leave=True)
        left = page.until("ended")
    assert left["return_to"].endswith(f"?cc={left['code']}")
    assert left["code"] != CODE
    assert code_in(recruiting, left["return_to"]) == "MANUALLY_REVIEW"
    recruiting.prolific.platform.complete(submission, left["code"])
    view = recruiting.refreshed()
    (row,) = view["submissions"]
    assert (row["ending"], row["proposal"]["pay"]) == ("reported", "all")
    assert row["proposal"]["why"] == "left after reporting a message"
    assert view["differences"] == []

"""A worker who asks to be forgotten before they are paid is paid first, and then removed completely."""

import pytest

from tests.server.support.database import query
from tests.server.support.recruiting import CODE, Recruiting

pytestmark = pytest.mark.databases("sqlite", in_soak=["postgresql"])
VISITS = "SELECT visit FROM visit ORDER BY visit"


def forget(recruiting: Recruiting, participant: str, **fields: str) -> None:
    named = {"worker": participant} | fields
    answer = recruiting.house.desk("/workers/forget", method="POST", json=named)
    assert answer.status_code == 200, answer.text


def test_who_is_forgotten_before_they_are_paid_is_paid(recruiting: Recruiting) -> None:
    recruiting.publish()
    read = recruiting.finish("PID-ann")
    recruiting.refreshed()
    unread = recruiting.finish("PID-bob")
    for participant in ("PID-ann", "PID-bob"):
        forget(recruiting, participant)
    found = recruiting.refreshed()
    assert found["differences"] == []
    assert {row["submission"]: row["proposal"]["pay"] for row in found["submissions"]} == {
        read: "all",
        unread: "all",
    }
    recruiting.ask("/decisions", submissions=[read], decision="approve")
    recruiting.refreshed()
    assert query(recruiting.house.url, VISITS) == [(unread,)]
    recruiting.ask("/decisions", submissions=[unread], decision="approve")
    recruiting.refreshed()
    assert query(recruiting.house.url, VISITS) == []


def test_who_was_paid_is_forgotten_at_once(recruiting: Recruiting) -> None:
    recruiting.publish()
    submission = recruiting.finish("PID-ann")
    recruiting.refreshed()
    recruiting.ask("/decisions", submissions=[submission], decision="approve")
    forget(recruiting, "PID-ann")
    assert query(recruiting.house.url, VISITS) == []


@pytest.mark.parametrize("given_up", ["RETURNED", "TIMED-OUT"])
def test_who_finished_after_giving_up_there_is_still_found_when_they_are_forgotten(
    recruiting: Recruiting, given_up: str
) -> None:
    recruiting.publish()
    submission, token = recruiting.arrive("PID-ann")
    if given_up == "RETURNED":
        recruiting.prolific.platform.give_back(submission)
    else:
        recruiting.prolific.clock.pass_by(minutes=61)  # of 60 that the study allows
    with recruiting.house.open(token) as page:
        page.whole()
    left, _ = recruiting.begin("PID-bob")  # who has not finished is owed nothing, and gone at once
    recruiting.prolific.platform.give_back(left)
    recruiting.refreshed()
    for participant in ("PID-ann", "PID-bob"):
        forget(recruiting, participant)
    assert query(recruiting.house.url, VISITS) == [(submission,)]
    for _ in range(2):  # and stays, however often it is read
        (found,) = recruiting.refreshed()["differences"]
        assert (found["submission"], found["kind"]) == (submission, "finished_after_giving_up")
    recruiting.ask("/decisions", submissions=[submission], decision="approve")
    assert recruiting.refreshed()["differences"] == []
    assert query(recruiting.house.url, VISITS) == []


@pytest.mark.parametrize("given_up", ["RETURNED", "TIMED-OUT"])
@pytest.mark.parametrize("extent", ["words", "all"])
def test_who_left_with_a_report_and_gave_up_there_is_still_paid_when_they_are_forgotten(
    recruiting: Recruiting, given_up: str, extent: str
) -> None:
    recruiting.publish()
    submission, token = recruiting.arrive("PID-ann")
    with recruiting.house.open(token) as page:
        page.agree()
        page.open_topic()
        page.say("Hello.")
        page.send("report", turn=1, reason="sexual", leave=True)
        page.until("ended")
    if given_up == "RETURNED":
        recruiting.prolific.platform.give_back(submission)
    else:
        recruiting.prolific.clock.pass_by(minutes=61)  # of 60 that the study allows
    recruiting.refreshed()
    forget(recruiting, "PID-ann", extent=extent)
    (found,) = recruiting.refreshed()["differences"]
    assert (found["submission"], found["kind"]) == (submission, "finished_after_giving_up")
    recruiting.ask("/decisions", submissions=[submission], decision="approve")
    assert recruiting.refreshed()["differences"] == []
    assert query(recruiting.house.url, VISITS) == []


def test_what_was_given_back_and_taken_again_keeps_nobody(recruiting: Recruiting) -> None:
    recruiting.publish()
    first, _ = recruiting.begin("PID-ann")
    recruiting.prolific.platform.give_back(first)
    recruiting.prolific.platform.submissions[first].participant = "PID-before"  # a place once more
    second, token = recruiting.arrive("PID-ann")
    with recruiting.house.open(token) as page:
        page.finish()
    recruiting.prolific.platform.complete(second, CODE)
    recruiting.refreshed()
    forget(recruiting, "PID-ann")
    assert query(recruiting.house.url, VISITS) == [(second,)]


def test_a_study_that_is_over_keeps_no_visits(recruiting: Recruiting) -> None:
    recruiting.publish()
    submission, token = recruiting.arrive("PID-ann")
    recruiting.prolific.platform.give_back(submission)
    with recruiting.house.open(token) as page:
        page.whole()
    recruiting.refreshed()
    forget(recruiting, "PID-ann")
    assert query(recruiting.house.url, VISITS) == [(submission,)]
    recruiting.prolific.platform.study(recruiting.shown()["study"]).status = "COMPLETED"
    recruiting.refreshed()
    assert query(recruiting.house.url, VISITS) == []

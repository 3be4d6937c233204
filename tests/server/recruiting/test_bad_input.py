"""Tests of faults around a study on the platform: reused codes, outages, exhausted budgets."""

# What else the list of bad input has is tested elsewhere. Parameters that are missing:
# live/test_recruited.py; doubled: session.test.ts of the page; forged: test_signed_arrivals.py, and without a
# signature `not_known_there` of test_api.py. Events that are forged, old, replayed, in another order or lost:
# test_webhooks.py.

import socket
from collections.abc import Callable

import pytest

from server.recruiters.stand_in.records import StandInRefusal
from tests.server.support.page import Page
from tests.server.support.recruiting import CODE, Recruiting
from tests.server.support.server import stored
from tests.support.waiting import wait_until

Act = Callable[[Recruiting], None]


def test_a_completion_code_that_is_used_twice_pays_once(recruiting: Recruiting) -> None:
    recruiting.publish()
    submission = recruiting.finish("PID-ann")
    with pytest.raises(StandInRefusal):  # there
        recruiting.prolific.platform.complete(submission, CODE)
    recruiting.refreshed()
    # Here, by two buttons, the first one twice.
    for _ in range(2):
        recruiting.ask("/decisions", submissions=[submission], decision="approve")
    recruiting.ask(f"/decisions/{submission}/repeat")
    other = {"submissions": [submission], "decision": "reject", "category": "LOW_EFFORT", "reason": "x" * 100}
    assert recruiting.refused("/decisions", **other) == "decided_already"
    assert recruiting.prolific.platform.submission(submission).paid == 450
    # The same code by somebody who never came is no completion.
    thief = recruiting.prolific.platform.reserve(recruiting.shown()["study"], "PID-bob")
    recruiting.prolific.platform.complete(thief.id, CODE)
    (found,) = recruiting.refreshed()["differences"]
    assert (found["submission"], found["kind"]) == (thief.id, "never_seen_here")


def test_a_platform_that_is_down_for_an_hour_keeps_nobody_from_finishing(recruiting: Recruiting) -> None:
    recruiting.publish()
    submission, token = recruiting.arrive("PID-ann")
    house, address = recruiting.house, recruiting.house.settings["prolific_api"]
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        gone = f"http://127.0.0.1:{nobody.getsockname()[1]}"
    house.stop()
    house.settings["prolific_api"] = gone
    house.start()
    with house.open(token) as page:
        assert page.whole()["code"] == CODE
    recruiting.prolific.platform.complete(submission, CODE)
    wait_until(lambda: recruiting.shown()["fault"] is not None, "a look that fails")
    assert recruiting.refused("/decisions", submissions=[submission], decision="approve") in {
        "pay_refused",  # nothing was read of it yet
        "platform_failed",
        "platform_unsure",
    }
    house.stop()
    house.settings["prolific_api"] = address
    house.start()
    wait_until(lambda: recruiting.shown()["fault"] is None, "a look that succeeds")
    (row,) = recruiting.shown()["submissions"]
    assert (row["here"], row["proposal"]["pay"]) == ("completed", "all")


def spend_the_budget(recruiting: Recruiting) -> None:
    """Let the run have a budget for the one who hands in first."""
    house = recruiting.house
    with house.open(recruiting.arrive("PID-first")[1]) as page:
        page.agree()
        budget = {"total": "4.50", "pay": "4.50"}
        rules = house.desk(f"/runs/{recruiting.run}/rules", method="PUT", json={"budget": budget})
        assert rules.is_success, rules.text
        page.finish()


def spend_the_budget_on_a_bonus(recruiting: Recruiting) -> None:
    """Let the run have a budget for two, and give the one who hands in first as much again."""
    house = recruiting.house
    first = recruiting.finish("PID-first")
    recruiting.refreshed()
    budget = {"total": "9.00", "pay": "4.50"}
    rules = house.desk(f"/runs/{recruiting.run}/rules", method="PUT", json={"budget": budget})
    assert rules.is_success, rules.text
    batch = recruiting.ask("/bonuses", purpose="prize", cents={first: 450})["batch"]
    recruiting.ask(f"/bonuses/{batch}/pay")


def close_the_run(recruiting: Recruiting) -> None:
    assert recruiting.house.desk(f"/runs/{recruiting.run}/close", method="POST").is_success


@pytest.mark.parametrize("end", [spend_the_budget, spend_the_budget_on_a_bonus, close_the_run])
def test_who_chats_as_the_run_ends_finishes_and_is_paid_and_nobody_is_sent_any_more(
    recruiting: Recruiting, end: Act
) -> None:
    study = recruiting.publish()
    submission, token = recruiting.arrive("PID-ann")
    with recruiting.house.open(token) as page:
        page.agree()
        end(recruiting)
        status = "SELECT status FROM run"
        wait_until(lambda: stored(recruiting.house, status) == [("closed",)], "the end of the run")
        assert finished(page) == CODE
    recruiting.prolific.platform.complete(submission, CODE)
    recruiting.refreshed()
    recruiting.ask("/decisions", submissions=[submission], decision="approve")
    assert recruiting.prolific.platform.submission(submission).paid == 450
    # The platform is told with the next look, which comes at once where a server begins.
    recruiting.house.stop()
    recruiting.house.start()
    paused = "SELECT actor FROM audit_entry WHERE action = 'recruitment.pause'"
    wait_until(lambda: stored(recruiting.house, paused) == [("run that takes nobody",)], "the pause")
    assert recruiting.prolific.platform.study(study).status == "PAUSED"


def finished(page: Page) -> str:
    return str(page.finish()["code"])

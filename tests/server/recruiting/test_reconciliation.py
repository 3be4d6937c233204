"""Tests of reconciliation with a platform: every pair of states that disagree, and its remedy."""

import pytest

from server.db.recruiting.pay_decisions import DecisionKind, PayShare
from server.db.recruiting.submissions import Participation, StoredSubmission
from server.recruiting.pay_rules import proposal
from server.recruiting.reconciliation import Difference, differences
from tests.server.support.study import AT

ENDINGS = {
    "DONE": "complete",
    "FAULT": "our_failure",
    "BAD": "reported",
    "BACK": "returned",
    "NO": "no_consent",
}


def theirs(status: str, code: str | None = None, number: str = "s1") -> StoredSubmission:
    return StoredSubmission(number, status, AT, None, code)


def ours(status: str, rated: int = 0, failed: int = 0, **other: object) -> Participation:
    given: dict[str, object] = {"excluded": False, "left_with_report": False, "visits": ("s1",)} | other
    return Participation("a1", "W1", status, 4, rated, failed, **given)  # type: ignore[arg-type]


def decided(kind: DecisionKind) -> dict[str, PayShare]:
    return {"s1": PayShare("s1", kind, None, None, "", "ann", AT)}


@pytest.mark.parametrize(
    ("there", "here", "kind", "remedy"),
    [
        (theirs("RETURNED"), ours("active"), "left_there", "release"),
        (theirs("TIMED-OUT"), ours("active"), "left_there", "release"),
        (theirs("TIMED-OUT"), ours("completed", 4), "finished_after_giving_up", "approve"),
        (theirs("RETURNED"), ours("completed", 4), "finished_after_giving_up", "approve"),
        (theirs("TIMED-OUT"), ours("returned", left_with_report=True), "finished_after_giving_up", "approve"),
        (theirs("ACTIVE"), ours("returned", left_with_report=True), "not_handed_in", "remind"),
        (theirs("ACTIVE"), ours("completed", 4), "not_handed_in", "remind"),
        (theirs("AWAITING REVIEW", "NOCODE"), ours("completed", 4), "wrong_code", "approve"),
        (theirs("AWAITING REVIEW", "BACK"), ours("completed", 4), "wrong_code", "approve"),
        (theirs("AWAITING REVIEW", "DONE"), ours("active", 1), "handed_in_unfinished", "request_return"),
        (theirs("AWAITING REVIEW", "DONE"), ours("expired", 1), "handed_in_unfinished", "request_return"),
        (theirs("AWAITING REVIEW", "DONE"), None, "never_seen_here", "request_return"),
    ],
)
def test_a_difference_has_its_remedy(
    there: StoredSubmission, here: Participation | None, kind: str, remedy: str
) -> None:
    (found,) = differences([there], [] if here is None else [here], {}, ENDINGS)
    assert (found.kind, found.remedy, found.submission) == (kind, remedy, "s1")


@pytest.mark.parametrize(
    ("there", "here"),
    [
        (theirs("AWAITING REVIEW", "DONE"), ours("completed", 4)),
        (theirs("APPROVED", "DONE"), ours("completed", 4)),
        (theirs("ACTIVE"), ours("active", 1)),
        (theirs("RESERVED"), None),
        (theirs("RETURNED"), None),
        (theirs("TIMED-OUT"), ours("expired", 1)),
        (theirs("SCREENED OUT", "OUT"), ours("returned")),
        # Their code has asked them to return it.
        (theirs("AWAITING REVIEW", "NO"), None),
        (theirs("AWAITING REVIEW", "BACK"), ours("returned", 1)),
        (theirs("AWAITING REVIEW", "BAD"), ours("returned", 1, left_with_report=True)),
    ],
)
def test_what_agrees_is_no_difference(there: StoredSubmission, here: Participation | None) -> None:
    assert differences([there], [] if here is None else [here], {}, ENDINGS) == []


def test_who_was_stopped_by_a_failure_of_ours_is_paid_for_what_they_did() -> None:
    # 3 of 4 conversations rated: 75 % of the reward.
    found = differences([theirs("AWAITING REVIEW", "FAULT")], [ours("returned", 3, 1)], {}, ENDINGS)
    assert found == [Difference("stopped_by_us", "partial", "s1", "a1", 75)]


def test_a_decision_that_was_not_carried_out_is_a_difference_until_it_was() -> None:
    waiting = theirs("AWAITING REVIEW", "DONE")
    (found,) = differences([waiting], [ours("completed", 4)], decided("approve"), ENDINGS)
    assert (found.kind, found.remedy) == ("decision_not_carried_out", "repeat")
    assert differences([theirs("APPROVED")], [ours("completed", 4)], decided("approve"), ENDINGS) == []
    # The platform's list calls a payment in part approved.
    assert differences([theirs("APPROVED")], [ours("returned", 3, 1)], decided("partial"), ENDINGS) == []
    # Whoever was asked to give a place back does so when they like.
    assert differences([waiting], [ours("active", 1)], decided("request_return"), ENDINGS) == []


def test_a_submission_that_was_taken_again_counts_by_its_latest() -> None:
    here = ours("completed", 4, visits=("s1", "s2"))
    there = [theirs("RETURNED"), theirs("AWAITING REVIEW", "DONE", "s2")]
    assert differences(there, [here], {}, ENDINGS) == []


def test_whoever_names_a_submission_that_is_not_there_is_shown_until_they_are_left_out() -> None:
    forged = ours("completed", 4, visits=("made-up",))
    assert differences([], [forged], {}, ENDINGS) == [Difference("not_known_there", "exclude", None, "a1")]
    assert differences([], [ours("completed", 4, visits=("made-up",), excluded=True)], {}, ENDINGS) == []


@pytest.mark.parametrize(
    ("there", "here", "pay", "share"),
    [
        (theirs("AWAITING REVIEW", "DONE"), ours("completed", 4), "all", None),
        (theirs("TIMED-OUT"), ours("completed", 4), "all", None),
        (theirs("AWAITING REVIEW", "FAULT"), ours("returned", 2, 1), "part", 50),
        (theirs("RETURNED"), ours("expired", 0, 1), "part", 8),  # nothing rated: the least that there is
        (theirs("AWAITING REVIEW", "BAD"), ours("returned", 1, 1, left_with_report=True), "all", None),
        (theirs("RETURNED", "BACK"), ours("returned", left_with_report=True), "all", None),
        (theirs("AWAITING REVIEW", "DONE"), ours("active", 1), "nothing", None),
        (theirs("AWAITING REVIEW"), None, "nothing", None),
    ],
)
def test_who_finished_is_paid_and_who_was_stopped_by_us_is_paid_in_part(
    there: StoredSubmission, here: Participation | None, pay: str, share: int | None
) -> None:
    found = proposal(there, here)
    assert found is not None
    assert (found.pay, found.share) == (pay, share)


@pytest.mark.parametrize("status", ["ACTIVE", "APPROVED", "REJECTED", "SCREENED OUT"])
def test_of_who_is_under_way_or_was_paid_nothing_is_to_be_decided(status: str) -> None:
    assert proposal(theirs(status), ours("completed", 4)) is None

"""Decisions on pay are checked before anything is stored or sent."""

import pytest

from server.db.recruiting.pay_decisions import DecisionKind
from server.db.recruiting.submissions import StoredSubmission
from server.errors import PayRefused
from server.recruiting.pay_rules import check_decision, proposal
from tests.server.support.study import AT

LONG = "You were asked to write five messages in each chat and wrote one. " * 2  # 132 characters


@pytest.mark.parametrize(
    ("decision", "share", "category", "reason"),
    [
        ("approve", None, None, ""),
        ("reject", None, "LOW_EFFORT", LONG),
        ("partial", 8, None, "A chatbot failed."),
        ("partial", 99, None, "A chatbot failed."),
        ("screen_out", None, None, ""),
        ("request_return", None, None, "You have not finished."),
    ],
)
def test_what_the_platform_takes_is_let_through(
    decision: DecisionKind, share: int | None, category: str | None, reason: str
) -> None:
    check_decision(decision, share, category, reason)


@pytest.mark.parametrize(
    ("decision", "share", "category", "reason", "said"),
    [
        ("reject", None, "LOW_EFFORT", "x" * 99, "99 characters"),
        ("reject", None, "LAZY", LONG, "“LAZY” is not a category"),
        ("reject", None, None, LONG, "category"),
        ("approve", None, "LOW_EFFORT", LONG, "category"),
        ("partial", 7, None, "A chatbot failed.", "8 to 99"),
        ("partial", 100, None, "A chatbot failed.", "8 to 99"),
        ("partial", None, None, "A chatbot failed.", "share"),
        ("approve", 50, None, "", "share"),
        ("partial", 50, None, "", "reads the reason"),
        ("request_return", None, None, "", "reads the reason"),
        ("approve", None, None, "x" * 2_001, "2001 characters"),
    ],
)
def test_what_it_would_refuse_is_refused_here(
    decision: DecisionKind, share: int | None, category: str | None, reason: str, said: str
) -> None:
    with pytest.raises(PayRefused, match=said):
        check_decision(decision, share, category, reason)


def test_who_was_asked_to_return_the_place_is_not_proposed_to_be_rejected() -> None:
    submitted = StoredSubmission("s1", "AWAITING REVIEW", AT, AT, "C1")
    found = {ending: proposal(submitted, None, ending) for ending in ("no_consent", "returned", "complete")}
    assert (found["no_consent"], found["returned"]) == (None, None)
    assert found["complete"] is not None  # never seen here

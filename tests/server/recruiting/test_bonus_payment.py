"""Tests of bonuses whose payment the platform has not confirmed."""

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from server.db.recruiting.bonuses import StoredBatch, StoredBonus
from server.recruiting.bonuses import SETTLES_WITHIN, Funds, is_due, is_overdue, outcome, seen_paid, unusual
from server.run_rules import Budget
from tests.server.support.study import AT

BONUSES = (StoredBonus("s1", "thanks", 150, 1), StoredBonus("s2", "thanks", 50, 0))
BATCH = StoredBatch(1, "b1", 250, "unknown", "ann", AT, AT, "prolific", BONUSES)
LATER = AT + SETTLES_WITHIN


@pytest.mark.parametrize(
    ("payments", "at", "became"),
    [
        # s1 had 1.50 before, from elsewhere: only a second one is ours.
        ({"s1": [150, 150], "s2": [50]}, AT, "paid"),
        ({"s1": [150], "s2": []}, AT + timedelta(minutes=59), "too_early"),
        ({"s1": [150], "s2": []}, LATER, "not_paid"),
        ({"s1": [150, 50], "s2": [150]}, LATER, "not_paid"),
        ({"s1": [150, 150], "s2": []}, AT, "too_early"),
        ({"s1": [150, 150], "s2": []}, LATER, "mixed"),
    ],
)
def test_it_is_read_from_what_the_platform_has_paid(
    payments: dict[str, list[int]], at: datetime, became: str
) -> None:
    assert outcome(BATCH, seen_paid(BATCH, payments), at) == became


def test_what_was_seen_once_stays_paid_and_what_was_never_sent_is_not() -> None:
    seen = replace(BATCH, bonuses=(replace(BONUSES[0], seen_at=AT), BONUSES[1]))
    assert seen_paid(seen, {"s2": [50]}) == {"s1", "s2"}
    unsent = replace(BATCH, bonuses=(StoredBonus("s1", "thanks", 150, None),))
    assert seen_paid(unsent, {"s1": [150]}) == set()
    assert outcome(unsent, set(), AT) == "not_paid"  # its payments were not even counted: nothing was sent


def test_a_batch_is_overdue_after_an_hour_unless_it_is_paid() -> None:
    sent = replace(BATCH, state="sent")
    assert [is_overdue(sent, at) for at in (LATER - timedelta(seconds=1), LATER)] == [False, True]
    assert not is_overdue(replace(BATCH, state="paid"), LATER)
    assert not is_overdue(replace(BATCH, state="prepared"), LATER)


def test_it_is_looked_at_ever_more_rarely() -> None:
    assert is_due(BATCH, None, AT)
    assert is_due(BATCH, AT, AT)
    # Last looked at after 80 minutes: again 20 minutes later.
    looked = AT + timedelta(minutes=80)
    assert not is_due(BATCH, looked, AT + timedelta(minutes=99))
    assert is_due(BATCH, looked, AT + timedelta(minutes=100))


# 10 places of 4.50 are 45.00. A budget of 60.00 of which 5 are paid 4.50 and a third of it as fee has
# 60 - 5 × 6 = 30.00 left, of which a quarter is the fee of bonuses: 22.50.
BUDGET = Budget(total=Decimal(60), pay=Decimal("4.50"), fee_share=Decimal("0.3333"), currency="GBP")


@pytest.mark.parametrize(
    ("cents", "funds", "said"),
    [
        ({"s1": 450, "s2": 450}, Funds(450, 10, "GBP", 3_600, None, 5), []),
        (
            {"s1": 451},
            Funds(450, 10, "GBP", 0, None, 0),
            ["4.51 GBP is more than the study's reward of 4.50"],
        ),
        (
            {"s1": 1},
            Funds(450, 10, "GBP", 4_500, None, 0),
            ["together are 45.01 GBP, which is more than all rewards of the study: 45.00 GBP"],
        ),
        ({"s1": 250}, Funds(450, 10, "GBP", 2_000, BUDGET, 5), []),
        (
            {"s1": 251},
            Funds(450, 10, "GBP", 2_000, BUDGET, 5),
            ["more than what the run's budget has left: 22.50 GBP"],
        ),
        ({"s1": 1}, Funds(450, 10, None, 0, BUDGET, 11), ["more than what the run's budget has left: 0.00"]),
        (
            {"s1": 1_000_000},
            Funds(450, 10, None, 0, None, 0),
            ["10000.00 is more than the study's reward of 4.50", "together are 10000.00"],
        ),
    ],
)
def test_amounts_out_of_proportion_are_named(cents: dict[str, int], funds: Funds, said: list[str]) -> None:
    found = unusual(cents, funds)
    assert len(found) == len(said)
    assert all(part in one for part, one in zip(said, found, strict=True))

"""What became of bonuses whose payment nobody has confirmed."""

from datetime import datetime, timedelta

import pytest

from server.db.bonuses import StoredBatch, StoredBonus
from server.recruiting.bonus_payment import SETTLES_WITHIN, outcome
from tests.server.support.study import AT

BONUSES = (StoredBonus("s1", "thanks", 150, 1), StoredBonus("s2", "thanks", 50, 0))
BATCH = StoredBatch(1, "b1", 250, "unknown", "ann", AT, AT, BONUSES)
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
    assert outcome(BATCH, payments, at) == became

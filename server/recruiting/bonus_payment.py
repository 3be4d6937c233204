"""Infer the outcome of bonus payments that nobody has confirmed. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal

from server.db.bonuses import StoredBatch, StoredBonus

# The platform pays in the background: what is not seen within this time was not paid.
SETTLES_WITHIN = timedelta(hours=1)
Outcome = Literal["paid", "not_paid", "too_early", "mixed"]


def outcome(batch: StoredBatch, payments: Mapping[str, Sequence[int]], now: datetime) -> Outcome:
    """Return what became of a batch that was sent.

    `mixed`: some of its bonuses are there and others are not, even now that all should be: a person has to
    look, as a further call would pay the first ones twice.

    Args:
        batch: what was sent.
        payments: what the platform has paid each of its submissions by now, in cents.
        now: when that was read.
    """
    there = [_paid(bonus, payments.get(bonus.submission, ())) for bonus in batch.bonuses]
    if all(there):
        return "paid"
    if batch.sent_at is not None and now - batch.sent_at < SETTLES_WITHIN:
        return "too_early"
    return "mixed" if any(there) else "not_paid"


def _paid(bonus: StoredBonus, payments: Sequence[int]) -> bool:
    return payments.count(bonus.cents) > (bonus.seen_before or 0)

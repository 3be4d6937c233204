"""Find unusual bonus amounts, and determine whether sent bonuses were paid. Pure functions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal

from server.db.recruiting.bonuses import OPEN, StoredBatch, StoredBonus
from server.recruiters.pay_platform import shown_amount
from server.run_rules import Budget

# The platform pays in the background, "in the following minutes". Later than this, a payment counts as
# missing.
SETTLES_WITHIN = timedelta(hours=1)
Outcome = Literal["paid", "not_paid", "too_early", "mixed"]


@dataclass(frozen=True, slots=True)
class Funds:
    """Amounts with which bonuses are compared, in cents of `currency` without fees.

    `bonuses`: the sum of all bonuses prepared before. `paid`: the number of rewards due by now, including
    shares.
    """

    reward: int
    places: int
    currency: str | None
    bonuses: int
    budget: Budget | None
    paid: Decimal | int


def unusual(cents: Mapping[str, int], funds: Funds) -> list[str]:
    """Return sentences that say why bonuses are unusual; none if they are not.

    A bonus is unusual if it exceeds the study's reward. All bonuses together are unusual if they exceed what
    is left of the run's budget, including fees, or without a budget, the sum of all rewards of the study.
    """
    found = []
    most = max(cents.values())
    if most > funds.reward:
        one, reward = (shown_amount(amount, funds.currency) for amount in (most, funds.reward))
        found.append(f"A bonus of {one} is more than the study's reward of {reward}")
    total = funds.bonuses + sum(cents.values())
    left, of = _left_for_bonuses(funds)
    if total > left:
        all_, most_ = (shown_amount(max(amount, 0), funds.currency) for amount in (total, left))
        found.append(f"All bonuses of the run together are {all_}, which is more than {of}: {most_}")
    return found


def _left_for_bonuses(funds: Funds) -> tuple[int, str]:
    if funds.budget is None:
        return funds.places * funds.reward, "all rewards of the study"
    budget = funds.budget
    left = (budget.total - funds.paid * budget.per_assignment) / (1 + budget.fee_share)
    return int(left * Decimal(100)), "what the run's budget has left"


def seen_paid(batch: StoredBatch, payments: Mapping[str, Sequence[int]]) -> set[str]:
    """Return the submissions of a batch whose bonus is paid.

    Args:
        batch: the sent batch.
        payments: the platform's bonus payments so far, in cents by submission. A payment that was not there
            before the batch was sent belongs to the batch, because no other bonus of the submission is open.
    """
    return {one.submission for one in batch.bonuses if _is_paid(one, payments.get(one.submission, ()))}


def outcome(batch: StoredBatch, paid: set[str], now: datetime) -> Outcome:
    """Return the outcome of a sent batch.

    `mixed`: only some of its bonuses are paid although all should be. A person must check it, because another
    call would pay the first ones twice.

    Args:
        batch: the sent batch.
        paid: the submissions whose bonus was seen paid.
        now: the time of the reading.
    """
    if len(paid) == len(batch.bonuses):
        return "paid"
    if is_sent(batch) and not is_overdue(batch, now):
        return "too_early"
    return "mixed" if paid else "not_paid"


def is_sent(batch: StoredBatch) -> bool:
    """Return whether the paying call may have been made: earlier payments are counted just before it."""
    return all(one.seen_before is not None for one in batch.bonuses)


def is_overdue(batch: StoredBatch, now: datetime) -> bool:
    """Return whether a batch should be paid by now, but was not seen paid."""
    return batch.state in OPEN and batch.sent_at is not None and now - batch.sent_at >= SETTLES_WITHIN


def is_due(batch: StoredBatch, looked: datetime | None, now: datetime) -> bool:
    """Return whether to check an open batch again, which is due after another quarter of its age.

    `looked`: the time of the latest check; None: never.
    """
    if looked is None or batch.sent_at is None:
        return True
    return (now - looked) * 4 >= looked - batch.sent_at


def _is_paid(bonus: StoredBonus, payments: Sequence[int]) -> bool:
    if bonus.seen_at is not None:
        return True
    return bonus.seen_before is not None and payments.count(bonus.cents) > bonus.seen_before

"""Judge bonuses: which amounts are unusual, and what became of those that were sent. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal

from server.db.recruiting.bonuses import OPEN, StoredBatch, StoredBonus
from server.recruiters.prolific.money import shown_amount
from server.run_rules import Budget

# The platform pays in the background, "in the following minutes": what is later than this is missing.
SETTLES_WITHIN = timedelta(hours=1)
Outcome = Literal["paid", "not_paid", "too_early", "mixed"]


@dataclass(frozen=True, slots=True)
class Funds:
    """What bonuses are held against; amounts are cents of `currency`, without fees.

    `bonuses`: all that were prepared before. `paid`: how many rewards are due by now, shares of them too.
    """

    reward: int
    places: int
    currency: str | None
    bonuses: int
    budget: Budget | None
    paid: Decimal | int


def unusual(cents: Mapping[str, int], funds: Funds) -> list[str]:
    """Return why bonuses need a second thought, in sentences; nothing where their amounts are in proportion.

    One is more than the study's reward, or all bonuses together are more than what the run's budget has left,
    fees included; of a run without a budget, than all rewards of the study.
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
        found.append(f"All bonuses of the run would be {all_}, which is more than {of}: {most_}")
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
        batch: what was sent.
        payments: what the platform has paid each of its submissions by now, in cents. A payment that was not
            there before ours was sent is ours: no other bonus of the submission is open meanwhile.
    """
    return {one.submission for one in batch.bonuses if _is_paid(one, payments.get(one.submission, ()))}


def outcome(batch: StoredBatch, paid: set[str], now: datetime) -> Outcome:
    """Return what became of a batch that was sent.

    `mixed`: some of its bonuses are there and others are not, even now that all should be: a person has to
    look, as a further call would pay the first ones twice.

    Args:
        batch: what was sent.
        paid: the submissions whose bonus was seen there.
        now: when that was read.
    """
    if len(paid) == len(batch.bonuses):
        return "paid"
    if is_sent(batch) and not is_overdue(batch, now):
        return "too_early"
    return "mixed" if paid else "not_paid"


def is_sent(batch: StoredBatch) -> bool:
    """Return whether the call that pays may have been made: before it, payments are counted."""
    return all(one.seen_before is not None for one in batch.bonuses)


def is_overdue(batch: StoredBatch, now: datetime) -> bool:
    """Return whether a batch should have been seen paid by now, and was not."""
    return batch.state in OPEN and batch.sent_at is not None and now - batch.sent_at >= SETTLES_WITHIN


def is_due(batch: StoredBatch, looked: datetime | None, now: datetime) -> bool:
    """Return whether an open batch is to be looked at again: each time after a quarter of its age.

    `looked`: when it last was; None: never.
    """
    if looked is None or batch.sent_at is None:
        return True
    return (now - looked) * 4 >= looked - batch.sent_at


def _is_paid(bonus: StoredBonus, payments: Sequence[int]) -> bool:
    if bonus.seen_at is not None:
        return True
    return bonus.seen_before is not None and payments.count(bonus.cents) > bonus.seen_before

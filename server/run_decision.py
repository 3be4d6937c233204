"""Decide from a run's rules and counts whether it is complete and has room for another worker. Pure."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from server.run_rules import Budget, RunRules, Target, in_words

# n assignments are still needed, a are active. Another worker is admitted as long as they are at least as
# likely as not to be needed, that is, as long as fewer than n of the a active ones will probably complete.
#
# Each completes with probability p, so the number that completes is binomial. It lies below n with
# probability of a half or more if its median does. The median differs from the mean, a·p, by less than ln 2
# (K. Hamza, The smallest uniform upper bound on the distance between the mean and the median of the binomial
# and Poisson distributions, Statistics & Probability Letters 23, 1995). So another worker is admitted if
#
# a·p + ln 2 < n.
#
# p is (completed + a + 1) / (completed + a + dropped + 1). Active workers count as if all of them completed,
# because workers who drop out do so early: when the first five of twenty have left, and nobody has had the
# time to complete, the share of those that have ended tells nothing about the other fifteen. p is never less
# than a half, so that a bad beginning cannot admit more than twice as many as are needed.
#
# With N = n - ln 2, the first condition is a quadratic inequality in a; its positive root is (N - c - 1 +
# √((N - c - 1)² + 4·N·(c + d + 1))) / 2 for c completed and d dropped. If nobody has dropped out, it is N,
# and exactly n workers are active.
_LEAST = 0.5


def completing(completed: int, dropped: int, under_way: int) -> float:
    """Return the assumed probability p that a worker completes: from 0.5 to 1."""
    good = completed + under_way + 1
    return max(good / (good + dropped), _LEAST)


def most_under_way(still_needed: int, completed: int, dropped: int) -> int:
    """Return how many assignments may be active at once.

    Args:
        still_needed: How many assignments are still to be completed.
        completed: How many are completed.
        dropped: How many ended without being completed.
    """
    if still_needed <= 0:
        return 0
    if dropped == 0:
        return still_needed
    lacking = still_needed - math.log(2)
    half = (lacking - completed - 1) / 2
    by_dropout = half + math.sqrt(half**2 + lacking * (completed + dropped + 1))
    return math.ceil(min(by_dropout, lacking / _LEAST))


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of people's assignments in a run.

    `dropped` were returned or have expired, except those that a researcher released. `left_paid` left with
    the report of a message, and are paid in full. `part_paid`: rewards decided for others, as a sum of
    shares. `bonuses`: all bonuses sent, in the budget's currency, without fees.
    """

    under_way: int = 0
    completed: int = 0
    dropped: int = 0
    left_paid: int = 0
    part_paid: Decimal = Decimal(0)
    bonuses: Decimal = Decimal(0)

    @property
    def paid(self) -> int:
        """The number of assignments paid in full."""
        return self.completed + self.left_paid

    def besides(self, budget: Budget) -> Decimal:
        """Return all payments except those for assignments paid in full, without fees."""
        return self.part_paid * budget.pay + self.bonuses

    def spent(self, budget: Budget) -> Decimal:
        """Return all payments, with fees."""
        return self.paid * budget.per_assignment + self.besides(budget) * (1 + budget.fee_share)


@dataclass(frozen=True, slots=True)
class Standing:
    """A run's progress against its rules.

    `rated`: rated conversations of completed assignments, by system. `met`: rated conversations per
    assignment, by system, on average over the plan. `widest`: the widest interval in the latest analysis.
    `slots`: the number of slots that the study sets, if any. `spent`: a sentence about the spending
    cap that is reached; None if none is.
    """

    counts: Counts = Counts()
    rated: Mapping[str, int] = field(default_factory=dict)
    met: Mapping[str, float] = field(default_factory=dict)
    widest: float | None = None
    slots: int | None = None
    spent: str | None = None


@dataclass(frozen=True, slots=True)
class RunEnd:
    """The end of a run by its rules: the cause, and a sentence."""

    cause: Literal["target", "budget"]
    reason: str


def target_of(rules: RunRules, standing: Standing) -> Target | None:
    """Return the run's target, or else the number of slots of the study; None if there is neither."""
    if rules.target is None and standing.slots is not None:
        return Target(assignments=standing.slots)
    return rules.target


def needed(rules: RunRules, standing: Standing) -> int | None:
    """Return how many assignments are still to be completed; None if that is unknown or there is no target.

    For a target of conversations, this is the average number that the most lacking system needs. For a target
    width, it is the number needed if widths go on to shrink with the square root of completed assignments.
    """
    target = target_of(rules, standing)
    if target is None:
        return None
    if target.assignments is not None:
        return max(target.assignments - standing.counts.completed, 0)
    if target.conversations_per_system is not None:
        return _needed_of_systems(target.conversations_per_system, standing)
    return _needed_of_width(target.widest_interval or math.inf, standing)


def end_of(rules: RunRules, standing: Standing) -> RunEnd | None:
    """Return why a run must stop: its target is reached, or it cannot pay another assignment; else None."""
    if standing.spent is not None:
        return RunEnd("budget", f"The run has to stop: {standing.spent}.")
    target, completed = target_of(rules, standing), standing.counts.completed
    if target is not None and needed(rules, standing) == 0:
        return RunEnd("target", f"The run reached its target: {in_words(target)}.")
    if standing.slots is not None and completed >= standing.slots:
        return RunEnd("target", f"All {standing.slots} slots that the study sets are completed.")
    budget, counts = rules.budget, standing.counts
    if budget is not None and counts.paid >= budget.assignments(counts.besides(budget)):
        return RunEnd(
            "budget",
            f"The budget of {money(budget.total, budget.currency)} pays for no other assignment: "
            f"{money(counts.spent(budget), budget.currency)} are spent.",
        )
    return None


def slots_open(rules: RunRules, standing: Standing) -> int | None:
    """Return how many more workers may begin now; None means any number."""
    counts, left = standing.counts, []
    still_needed = needed(rules, standing)
    if still_needed is not None:
        left.append(most_under_way(still_needed, counts.completed, counts.dropped) - counts.under_way)
    if standing.slots is not None:
        left.append(standing.slots - counts.completed - counts.under_way)
    if rules.budget is not None:
        affordable = rules.budget.assignments(counts.besides(rules.budget))
        left.append(affordable - counts.paid - counts.under_way)
    if rules.most_at_once is not None:
        left.append(rules.most_at_once - counts.under_way)
    return max(min(left), 0) if left else None


def room_for_another(rules: RunRules, standing: Standing) -> bool:
    """Return whether one more worker may be active; one who replaces a worker who is gone is not one more."""
    return slots_open(rules, standing) != 0


def money(amount: object, currency: str) -> str:
    """Format an amount of money."""
    return f"{amount:,.2f} {currency}".rstrip()


def _needed_of_systems(wanted: int, standing: Standing) -> int:
    lacking = (
        math.ceil((wanted - standing.rated.get(system, 0)) / met) for system, met in standing.met.items()
    )
    return max(max(lacking, default=0), 0)


def _needed_of_width(wanted: float, standing: Standing) -> int | None:
    completed, widest = standing.counts.completed, standing.widest
    if widest is None:
        return None
    if widest < wanted:
        return 0
    return max(math.ceil(completed * ((widest / wanted) ** 2 - 1)), 1)

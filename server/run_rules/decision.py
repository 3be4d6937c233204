"""Decide from a run's rules and counts whether it is complete and has room for another worker. Pure."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from server.run_rules.rules import Budget, RunRules, Target, in_words

# n assignments are still needed, a are under way. Another worker is let in as long as it is at least as
# likely as not that they are needed: that fewer than n of the a under way will complete.
#
# Each completes with probability p, so the number that completes is binomial. It lies below n with
# probability of a half or more if its median does. The median differs from the mean, a·p, by less than ln 2
# (K. Hamza, The smallest uniform upper bound on the distance between the mean and the median of the binomial
# and Poisson distributions, Statistics & Probability Letters 23, 1995). So another is let in if
#
# a·p + ln 2 < n.
#
# p is (completed + a + 1) / (completed + a + dropped + 1). Those under way count as if all of them completed,
# because workers who drop out do so early: when the first five of twenty have left, and nobody has had the
# time to complete, the share of those that have ended says nothing of the other fifteen. p is never less than
# a half, so that a bad beginning cannot let in more than twice as many as are needed.
#
# With N = n - ln 2, the first condition is a quadratic inequality in a; its positive root is (N - c - 1 +
# √((N - c - 1)² + 4·N·(c + d + 1))) / 2 for c completed and d dropped. If nobody has dropped out, it is N,
# and exactly n workers are under way.
_LEAST = 0.5


def completing(completed: int, dropped: int, under_way: int) -> float:
    """Return the probability p with which a worker is taken to complete: from 0.5 to 1."""
    good = completed + under_way + 1
    return max(good / (good + dropped), _LEAST)


def most_under_way(still_needed: int, completed: int, dropped: int) -> int:
    """Return how many may be under way at once where so many more are needed.

    Args:
        still_needed: how many assignments have to be completed yet.
        completed: how many are.
        dropped: how many ended before that.
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
    """Assignments of people in a run, by how they stand.

    `dropped` were returned or have expired, except for those that a researcher released. `left_paid` left
    with the report of a message, and are paid in full. `part_paid`: rewards that were decided for others, as
    a sum of shares. `bonuses`: all that were sent, in the currency of the budget, without fees.
    """

    under_way: int = 0
    completed: int = 0
    dropped: int = 0
    left_paid: int = 0
    part_paid: Decimal = Decimal(0)
    bonuses: Decimal = Decimal(0)

    @property
    def paid(self) -> int:
        """How many are paid in full."""
        return self.completed + self.left_paid

    def besides(self, budget: Budget) -> Decimal:
        """Return what is paid besides the assignments that are paid in full, without fees."""
        return self.part_paid * budget.pay + self.bonuses

    def spent(self, budget: Budget) -> Decimal:
        """Return all that is paid, with fees."""
        return self.paid * budget.per_assignment + self.besides(budget) * (1 + budget.fee_share)


@dataclass(frozen=True, slots=True)
class Standing:
    """How a run stands.

    `rated`: by system, the rated conversations of completed assignments. `met`: by system, how many of its
    conversations are rated in an assignment on average, as the plan has it. `widest`: of the latest analysis.
    `places`: how many places the study's file allows, if it says so.
    `spent`: which spending cap of its bots is reached, in words; None where none is.
    """

    counts: Counts = Counts()
    rated: Mapping[str, int] = field(default_factory=dict)
    met: Mapping[str, float] = field(default_factory=dict)
    widest: float | None = None
    places: int | None = None
    spent: str | None = None


@dataclass(frozen=True, slots=True)
class End:
    """Why a run has come to its end: what has led to it, and a sentence."""

    cause: Literal["target", "budget"]
    reason: str


def target_of(rules: RunRules, standing: Standing) -> Target | None:
    """Return the run's target; where it has none, the places of the study are one."""
    if rules.target is None and standing.places is not None:
        return Target(assignments=standing.places)
    return rules.target


def needed(rules: RunRules, standing: Standing) -> int | None:
    """Return how many assignments have to be completed yet; None: nobody knows, or there is no target.

    Of a target of conversations it is as many as the system that lacks most needs on average; of an interval,
    as many as it takes if widths go on to shrink with the root of what is completed.
    """
    target = target_of(rules, standing)
    if target is None:
        return None
    if target.assignments is not None:
        return max(target.assignments - standing.counts.completed, 0)
    if target.conversations_per_system is not None:
        return _needed_of_systems(target.conversations_per_system, standing)
    return _needed_of_width(target.widest_interval or math.inf, standing)


def end_of(rules: RunRules, standing: Standing) -> End | None:
    """Return why a run has to stop, None if it has not: it has enough, or cannot pay one more."""
    if standing.spent is not None:
        return End("budget", f"The run has to stop: {standing.spent}.")
    target, completed = target_of(rules, standing), standing.counts.completed
    if target is not None and needed(rules, standing) == 0:
        return End("target", f"The run has what it was to gather: {in_words(target)}.")
    if standing.places is not None and completed >= standing.places:
        return End("target", f"All {standing.places} places that the study's file gives are completed.")
    budget, counts = rules.budget, standing.counts
    if budget is not None and counts.paid >= budget.assignments(counts.besides(budget)):
        return End(
            "budget",
            f"The budget of {money(budget.total, budget.currency)} pays for no other assignment: "
            f"{money(counts.spent(budget), budget.currency)} are spent.",
        )
    return None


def places_open(rules: RunRules, standing: Standing) -> int | None:
    """Return how many more workers may begin now; None: as many as come."""
    counts, left = standing.counts, []
    still_needed = needed(rules, standing)
    if still_needed is not None:
        left.append(most_under_way(still_needed, counts.completed, counts.dropped) - counts.under_way)
    if standing.places is not None:
        left.append(standing.places - counts.completed - counts.under_way)
    if rules.budget is not None:
        affordable = rules.budget.assignments(counts.besides(rules.budget))
        left.append(affordable - counts.paid - counts.under_way)
    if rules.most_at_once is not None:
        left.append(rules.most_at_once - counts.under_way)
    return max(min(left), 0) if left else None


def room_for_another(rules: RunRules, standing: Standing) -> bool:
    """Return whether one more worker may be under way; who takes the place of one who is gone is not more."""
    return places_open(rules, standing) != 0


def money(amount: object, currency: str) -> str:
    """Return an amount as people write it."""
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

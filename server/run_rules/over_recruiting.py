"""Compute how many workers may be under way to meet a target despite dropout. Pure.

n assignments are still needed, a are under way. Another worker is let in as long as it is at least as likely
as not that they are needed: that fewer than n of the a under way will complete.

Each completes with probability p, so the number that completes is binomial. It lies below n with probability
of a half or more if its median does. The median differs from the mean, a·p, by less than ln 2 (K. Hamza, The
smallest uniform upper bound on the distance between the mean and the median of the binomial and Poisson
distributions, Statistics & Probability Letters 23, 1995). So another is let in if

    a·p + ln 2 < n.

p is (completed + a + 1) / (completed + a + dropped + 1). Those under way count as if all of them completed,
because workers who drop out do so early: when the first five of twenty have left, and nobody has had the time
to complete, the share of those that have ended says nothing of the other fifteen. p is never less than a
half, so that a bad beginning cannot let in more than twice as many as are needed.

With N = n - ln 2, the first condition is a quadratic inequality in a; its positive root is
(N - c - 1 + √((N - c - 1)² + 4·N·(c + d + 1))) / 2 for c completed and d dropped. If nobody has dropped out,
it is N, and exactly n workers are under way.
"""

import math

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

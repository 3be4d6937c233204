"""Compute how many workers may be under way to meet a target despite dropout. Pure.

The rule. n assignments are still needed, a are under way, and of those that have ended a share has been
completed. Another worker is let in as long as it is at least as likely as not that they are needed: that of
the a under way fewer than n will complete.

Each completes with probability p, so the number that will is binomial, and lies below n with probability of a
half or more if its median does. The median differs from the mean, a·p, by less than ln 2 (K. Hamza, The
smallest uniform upper bound on the distance between the mean and the median of the binomial and Poisson
distributions, Statistics & Probability Letters 23, 1995). So another is let in if

    a·p + ln 2 < n,

which makes ceil((n - ln 2) / p) the most that are ever under way. From that follows: no more than ceil(n / p)
are, that is, no more than the dropout seen makes necessary on average; where nobody has dropped out p is 1,
and exactly n are. p is (completed + 1) / (ended + 1), never less than the share that was seen, and no less
than a half, so that a bad beginning cannot open the doors to more than twice as many as are needed.
"""

import math

_LEAST = 0.5


def completing(completed: int, dropped: int) -> float:
    """Return the probability p with which a worker is taken to complete: from 0.5 to 1."""
    return max((completed + 1) / (completed + dropped + 1), _LEAST)


def most_under_way(still_needed: int, completed: int, dropped: int) -> int:
    """Return how many may be under way at once where so many more are needed.

    Args:
        still_needed: how many assignments have to be completed yet.
        completed: how many are.
        dropped: how many ended before that.
    """
    if still_needed <= 0:
        return 0
    return math.ceil((still_needed - math.log(2)) / completing(completed, dropped))

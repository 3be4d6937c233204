"""Exact statements about a share of successes, and about successes that chance makes differently likely."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv


def exact_interval(successes: int, trials: int, level: float) -> tuple[float, float]:
    """Return the exact interval of a share at `level`; NaN, NaN without any trial.

    Both ends as Clopper and Pearson, *The use of confidence or fiducial limits illustrated in the case of the
    binomial* (1934): at least `level` of such intervals hold the share, whatever it is.
    """
    if trials == 0:
        return float("nan"), float("nan")
    tail, failures = (1 - level) / 2, trials - successes
    low = float(betaincinv(successes, failures + 1, tail)) if successes else 0.0
    high = float(betaincinv(successes + 1, failures, 1 - tail)) if failures else 1.0
    return low, high


def chance_of_as_many(successes: int, chances: NDArray[np.float64]) -> float:
    """Return the chance of at least so many successes in independent trials with these chances, (n,).

    Exact, by adding one trial after the other; the time grows with n².
    """
    distribution = np.ones(1)  # of the number of successes so far
    for chance in chances.tolist():
        failed, succeeded = np.append(distribution * (1 - chance), 0.0), np.append(0.0, distribution * chance)
        distribution = failed + succeeded
    return min(1.0, float(distribution[successes:].sum()))

"""Intervals of estimates and their level, Holm's correction, and removal of rounding noise."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit


def holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return p-values corrected by Holm's step-down procedure.

    If each is compared with α, the probability of any false rejection is at most α, for any dependence
    between the tests.

    Source: Holm, *A Simple Sequentially Rejective Multiple Test Procedure*, Scandinavian Journal of
    Statistics 6 (1979) 65-70.

    Args:
        p: (tests,); NaN means that the test was not made, and does not count.

    Returns:
        (tests,), at most 1; NaN if `p` is NaN.
    """
    made = np.flatnonzero(~np.isnan(p))
    order = made[np.argsort(p[made], kind="stable")]
    # The smallest is multiplied by the number of tests, the next by one less, and so on; none may fall.
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted


# Level of the comparisons of systems; it is independent of the level of the worker filter.
ALPHA = 0.05
LEVEL = 0.95


def t_interval(
    estimates: NDArray[np.float64], errors: NDArray[np.float64], degrees: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bounds estimate ± t · error, with the quantile of Student's t for LEVEL.

    Args:
        estimates: (…,).
        errors: (…,), their standard errors; NaN gives NaN bounds.
        degrees: degrees of freedom; below 1 all bounds are NaN.
    """
    quantile = stdtrit(degrees, (1 + LEVEL) / 2) if degrees > 0 else np.nan
    return estimates - quantile * errors, estimates + quantile * errors


# Real differences between ratings and their means are far larger than this decimal; the rest is noise of
# sums.
DECIMALS = 9
NOISE = 10.0**-DECIMALS


def without_noise(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `values` rounded to 9 decimals, so that equal values are exactly equal."""
    return np.asarray(np.round(values, DECIMALS))

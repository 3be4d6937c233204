"""Means over people, each counted once, with intervals of differences and ranks.

Arrays are (W, S): the value that each of W people gives to each of S systems, NaN if they did not meet.
People are independent; one person's values for several systems may be dependent.

Sources: the influence of a person on a difference of two means: Efron and Tibshirani, *An Introduction to the
Bootstrap*, 1993, chapter 11 (the jackknife; of a mean it is the usual variance); ranks from intervals of the
differences: Mogstad, Romano, Shaikh and Wilhelm, *Inference for Ranks with Applications to Mobility across
Neighbourhoods and Academic Achievement across Countries*, Review of Economic Studies, 2024.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from qc.statistics.confidence import LEVEL, t_interval

FEWEST_RATERS = 2


class Means(NamedTuple):
    """Means of S systems with 95 % intervals (t, n − 1 degrees of freedom); NaN with fewer than 2 raters."""

    raters: NDArray[np.intp]
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def person_means(values: NDArray[np.float64]) -> Means:
    """Return the means over people, each (S,)."""
    there = np.isfinite(values)
    raters = there.sum(axis=0)
    mean = np.where(there, values, 0).sum(axis=0) / np.where(raters > 0, raters, np.nan)
    squares = (_deviations(values, mean) ** 2).sum(axis=0)
    error = np.sqrt(squares / np.where(raters > 1, raters * (raters - 1.0), np.nan))
    bounds = np.array([t_interval(*each) for each in zip(mean, error, raters - 1, strict=True)]).T
    return Means(raters, mean, *bounds)


def rank_ranges(values: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the lowest and the highest rank of each system, both (S,); 0 for one that nobody rated.

    The rank of a system is below all systems that are significantly better, and above all that are
    significantly worse. All comparisons of one system are together at the level LEVEL (Bonferroni).
    """
    found = person_means(values)
    rated = found.raters > 0
    if not rated.any():
        return np.zeros(len(rated), np.intp), np.zeros(len(rated), np.intp)
    difference = found.mean[:, None] - found.mean
    surely = difference > _critical(found.raters) * difference_errors(values)
    low = 1 + surely.sum(axis=0)
    high = rated.sum() - surely.sum(axis=1)
    return np.where(rated, low, 0), np.where(rated, high, 0)


def difference_errors(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard error of the mean of each system minus that of each other one, (S, S).

    NaN if a system has fewer than 2 raters; 0 on the diagonal.
    """
    found = person_means(values)
    raters = np.where(found.raters >= FEWEST_RATERS, found.raters, np.nan)
    # Each person's influence on a mean, scaled so that the sum of squares is the variance of the mean.
    moved = _deviations(values, found.mean) / np.sqrt(raters * (raters - 1))
    # A matrix product would sum in an order that depends on the number of threads.
    products = np.einsum("ws,wt->st", moved, moved)
    variance = np.diag(products)
    return np.asarray(np.sqrt(np.maximum(variance[:, None] + variance - 2 * products, 0)))


def _deviations(values: NDArray[np.float64], mean: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isfinite(values), values - np.where(np.isfinite(mean), mean, 0), 0)


def _critical(raters: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the quantile of t for each pair, (S, S), simultaneous for all pairs of a system."""
    degrees = np.minimum(raters[:, None], raters) - 1.0
    level = (1 - LEVEL) / max(int(np.count_nonzero(raters)) - 1, 1)
    return np.asarray(stdtrit(np.where(degrees > 0, degrees, np.nan), 1 - level / 2))

"""The signed-rank test of paired values: does the first of each pair tend to be the lower one?

Source: Wilcoxon, *Individual comparisons by ranking methods*, Biometrics Bulletin 1 (1945) 80-83; variance
with ties: Lehmann, *Nonparametrics*, 1975, chapter 3. Differences of 0 are dropped, the sum of the ranks of
the positive ones is taken as normal, without correction for continuity.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from qc.statistics.noise import without_noise


def signed_rank_p_values(
    differences: NDArray[np.float64], groups: NDArray[np.intp], count: int
) -> NDArray[np.float64]:
    """Return one-sided p-values, one for each group, alternative: differences are less than 0.

    Args:
        differences: (pairs,), first minus second, without NaN; noise is rounded off.
        groups: (pairs,), codes from 0 to `count` - 1.
        count: number of groups.

    Returns:
        (count,); 1 where every difference is 0, NaN for a group without a pair.
    """
    p = np.full(count, np.nan)
    p[groups] = 1
    rounded = without_noise(differences)
    there = rounded != 0
    values, owners = rounded[there], groups[there]
    n = np.bincount(owners, minlength=count).astype(np.float64)
    ranks, ties = _ranks_and_ties(np.abs(values), owners, count)
    positive = np.bincount(owners, weights=ranks * (values > 0), minlength=count)
    tested = n > 0
    variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48
    deviation = positive - n * (n + 1) / 4
    p[tested] = ndtr(deviation[tested] / np.sqrt(variance[tested]))
    return p


def _ranks_and_ties(
    values: NDArray[np.float64], groups: NDArray[np.intp], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the midrank of each value within its group, and each group's sum of t³ - t over its ties."""
    order = np.lexsort((values, groups))
    ordered, owner = values[order], groups[order]
    begins = np.ones(len(order), bool)
    begins[1:] = (np.diff(ordered) > 0) | (np.diff(owner) > 0)
    start = np.flatnonzero(begins)
    length = np.diff(start, append=len(order))
    size = np.bincount(groups, minlength=count)
    before = (np.cumsum(size) - size)[owner[start]]
    ranks = np.empty(len(order))
    ranks[order] = np.repeat(start - before + (length + 1) / 2, length)
    ties = np.bincount(owner[start], weights=length**3 - length, minlength=count)
    return ranks, ties.astype(np.float64)

"""Tests by ranks and signs: rank-sum, signed-rank, sign test, and binomial intervals.

Source: Mann and Whitney, *On a test of whether one of two random variables is stochastically larger than the
other*, Annals of Mathematical Statistics 18 (1947) 50-60. U is the number of pairs (a value of the first
sample, a value of the second) in which the first is higher; a tie counts one half. A test is exact if a
sample has at most 8 values and no values are tied. Otherwise U is treated as normal, with correction for
continuity and ties (Lehmann, *Nonparametrics*, 1975, section 1.2 and appendix, section 4). SciPy's method
'auto' decides in the same way for a single test; here many tests are computed as one array.
"""

from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc, betaincinv, ndtr

from qc.statistics.confidence import without_noise


def exact_interval(successes: int, trials: int, level: float) -> tuple[float, float]:
    """Return the exact interval of a share at `level`; NaN, NaN without any trial.

    Source: Clopper and Pearson, *The use of confidence or fiducial limits illustrated in the case of the
    binomial* (1934). At least `level` of such intervals contain the true share.
    """
    if trials == 0:
        return float("nan"), float("nan")
    tail, failures = (1 - level) / 2, trials - successes
    low = float(betaincinv(successes, failures + 1, tail)) if successes else 0.0
    high = float(betaincinv(successes + 1, failures, 1 - tail)) if failures else 1.0
    return low, high


def chance_of_as_many(successes: int, chances: NDArray[np.float64]) -> float:
    """Return the probability of at least `successes` in independent trials with the chances (n,).

    The result is exact, computed by adding one trial after the other; the time grows with n².
    """
    distribution = np.ones(1)  # distribution of the number of successes so far
    for chance in chances.tolist():
        failed, succeeded = np.append(distribution * (1 - chance), 0.0), np.append(0.0, distribution * chance)
        distribution = failed + succeeded
    return min(1.0, float(distribution[successes:].sum()))


# Source: Dixon and Mood, *The statistical sign test*, Journal of the American Statistical Association 41
# (1946) 557-566. Under the null hypothesis both signs have probability 1/2, so the count is binomial.
def sign_test(more: int, less: int) -> float:
    """Return the two-sided p-value that `more` and `less` are equally likely; NaN if both are 0."""
    return min(1.0, 2 * float(bdtr(min(more, less), more + less, 0.5))) if more + less else float("nan")


def sign_test_greater(more: int, less: int) -> float:
    """Return the one-sided p-value, alternative: `more` is more likely; NaN if both are 0."""
    if not more + less:
        return float("nan")
    return float(bdtrc(more - 1, more + less, 0.5)) if more else 1.0


# Signed-rank test. Differences of 0 are dropped. With at most EXACT_PAIRS left, p is exact: the share of all
# assignments of signs to these ranks in which the positive ranks have a sum that is no larger. With more, the
# sum is treated as normal, without correction for continuity, as in the published studies: with 6 to 30
# differences p is then below 5 % in 4.7 to 5.5 % of cases; with 4 and 5 it would be in 6.25 %
# (`benchmarks/random_raters.py`).
#
# Source: Wilcoxon, *Individual comparisons by ranking methods*, Biometrics Bulletin 1 (1945) 80-83; variance
# with ties, and the exact distribution with them: Lehmann, *Nonparametrics*, 1975, chapter 3.
EXACT_PAIRS = 5
# The smallest p is the probability that all signs are the same.
CHANCE_OF_A_SIGN = 0.5


def smallest_p(pairs: int) -> float:
    """Return the smallest possible p with this number of differences, if none is 0."""
    return float(CHANCE_OF_A_SIGN**pairs)


def signed_rank_p_values(
    differences: NDArray[np.float64], groups: NDArray[np.intp], count: int
) -> NDArray[np.float64]:
    """Return one-sided p-values, one for each group, alternative: differences are less than 0.

    Args:
        differences: (pairs,), first minus second, without NaN; rounding noise is removed.
        groups: (pairs,), codes from 0 to `count` - 1.
        count: number of groups.

    Returns:
        (count,); 1 if every difference is 0, NaN for a group without a pair.
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
    begin = np.cumsum(n, dtype=np.intp) - n.astype(np.intp)
    doubled = np.rint(2 * ranks[np.lexsort((np.abs(values), owners))]).astype(np.int64)
    for group in np.flatnonzero(tested & (n <= EXACT_PAIRS)):
        own = doubled[begin[group] : begin[group] + int(n[group])]
        p[group] = _exact(own.tobytes())[round(2 * positive[group])]
    return p


@lru_cache(maxsize=4096)
def _exact(doubled: bytes) -> NDArray[np.float64]:
    """Return P(T ≤ t) for every 2t, from a group's doubled ranks as the bytes of an int64 array."""
    ranks = np.frombuffer(doubled, np.int64)
    ways = np.zeros(int(ranks.sum()) + 1)
    ways[0] = 1
    for rank in ranks:
        ways[rank:] += ways[: len(ways) - rank].copy()
    return np.asarray(np.cumsum(ways) / ways.sum())


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


LARGEST_EXACT = 8
# Cells of a block of an array: they fit into a processor's cache.
BLOCK_CELLS = 2**14


def rank_sum_less(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return the one-sided p-value of a test, alternative: `first` is less than `second`.

    Args:
        first: (n1,), without NaN.
        second: (n2,), without NaN.

    Returns:
        1 if all values are the same; NaN if a sample is empty.
    """
    if not len(first) or not len(second):
        return float("nan")
    return float(rank_sum_p_values(np.concatenate([first, second])[None], len(first))[0])


def rank_sum_p_values(samples: NDArray[np.float64], split: int) -> NDArray[np.float64]:
    """Return one-sided p-values of many tests, alternative: the first sample is less.

    Args:
        samples: (tests, n), each row two samples one after the other, without NaN.
        split: size of the first sample of every row, from 1 to n - 1.

    Returns:
        (tests,); 1 if all values of a row are the same.
    """
    tests, n = samples.shape
    p = np.empty(tests)
    size = max(1, BLOCK_CELLS // n)
    for start in range(0, tests, size):
        rows = slice(start, start + size)
        p[rows] = _p_values(*_u_and_ties(samples[rows], split), split, n - split)
    return p


def rank_sum_matrix(values: NDArray[np.float64], groups: NDArray[np.intp], count: int) -> NDArray[np.float64]:
    """Return one-sided p-values of every group against every other, alternative: the row's is higher.

    Args:
        values: (n,), without NaN.
        groups: (n,), codes from 0 to `count` - 1.
        count: number of groups.

    Returns:
        (count, count); the diagonal is 1. NaN in row and column of an empty group.
    """
    size = np.bincount(groups, minlength=count)
    u, ties = _pairwise_u_and_ties(values, groups, count)
    p = np.full((count, count), np.nan)
    for i in np.flatnonzero(size):
        for j in np.flatnonzero(size):
            # U of the column against the row is low if the row is higher.
            p[i, j] = _p_values(u[j : j + 1, i], ties[j : j + 1, i], int(size[j]), int(size[i]))[0]
        p[i, i] = 1
    return p


def _u_and_ties(samples: NDArray[np.float64], split: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return, for each row, U of the first sample and the sum of t³ - t over the t values of each tie."""
    tests, n = samples.shape
    order = np.argsort(samples, axis=1)
    ordered = np.take_along_axis(samples, order, axis=1)
    begins = np.ones((tests, n), bool)
    begins[:, 1:] = ordered[:, 1:] > ordered[:, :-1]
    # Each run of equal values within a row: its start, its length, and the common rank.
    start = np.flatnonzero(begins)
    row, first = np.divmod(start, n)
    length = np.diff(start, append=tests * n).astype(np.float64)
    rank = first + (length + 1) / 2
    of_first = np.add.reduceat(order.ravel() < split, start, dtype=np.float64)
    of_tie = length * (length * length - 1)
    ranks, ties = (
        np.bincount(row, weights=terms, minlength=tests).astype(np.float64, copy=False)
        for terms in (of_first * rank, of_tie)
    )
    return ranks - split * (split + 1) / 2, ties


def _pairwise_u_and_ties(
    values: NDArray[np.float64], groups: NDArray[np.intp], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return, for each pair of groups, U of the first against the second and the common tie term.

    Let h(g, v) be how often group g has the value v, and b(g, v) the number of its values below v. U is the
    sum over v of h(g, v) · (b(g', v) + h(g', v) / 2), and the tie term is the sum of t³ - t with t = h(g, v)
    + h(g', v). These are products of matrices, and their sums of whole and half numbers are exact.
    """
    order = np.argsort(values)
    ordered, owner = values[order], groups[order]
    distinct = np.cumsum(np.diff(ordered, prepend=ordered[:1]) > 0) if len(ordered) else owner
    u, mixed = np.zeros((count, count)), np.zeros((count, count))
    cubes, below = np.zeros(count), np.zeros(count)
    width = max(1, BLOCK_CELLS // count)
    for start in range(0, int(distinct[-1]) + 1 if len(distinct) else 0, width):
        rows = slice(*np.searchsorted(distinct, [start, start + width]))
        cells = owner[rows] * width + (distinct[rows] - start)
        times = np.bincount(cells, minlength=count * width).reshape(count, width).astype(np.float64)
        up_to = below[:, None] + np.cumsum(times, axis=1)
        u += times @ (up_to - times / 2).T
        squares = times * times
        mixed += squares @ times.T
        cubes += np.einsum("gv,gv->g", squares, times)
        below = up_to[:, -1]
    ties = cubes[:, None] + cubes + 3 * (mixed + mixed.T) - below[:, None] - below
    return u, ties


def _p_values(u: NDArray[np.float64], ties: NDArray[np.float64], n1: int, n2: int) -> NDArray[np.float64]:
    """Return P(U ≤ u), (tests,), for samples of `n1` and `n2` values."""
    p = _normal(u, ties, n1, n2)
    if min(n1, n2) <= LARGEST_EXACT:
        untied = ties == 0
        p[untied] = _cumulative(min(n1, n2), max(n1, n2))[u[untied].astype(np.intp)]
    return p


def _normal(u: NDArray[np.float64], ties: NDArray[np.float64], n1: int, n2: int) -> NDArray[np.float64]:
    n = n1 + n2
    sd = np.sqrt(n1 * n2 / 12 * ((n + 1) - ties / (n * (n - 1))))
    p = np.ones(len(u))
    varies = sd > 0
    p[varies] = ndtr((u[varies] - n1 * n2 / 2 + 0.5) / sd[varies])
    return p


@lru_cache(maxsize=128)
def _cumulative(n1: int, n2: int) -> NDArray[np.float64]:
    """Return P(U ≤ u) for u from 0 to n1 · n2, without ties and with all orders equally likely.

    The number of orders with U = u is the coefficient of q^u in the Gaussian binomial coefficient, the
    product over i from 1 to n1 of (1 - q^(n2 + i)) / (1 - q^i) (Andrews, *The Theory of Partitions*, 1976,
    chapter 3). Multiplication by the numerator subtracts what is n2 + i powers lower; division by the
    denominator adds up every i-th coefficient. No intermediate result exceeds the coefficients themselves.
    The upper half follows from symmetry, P(U ≤ u) = 1 - P(U ≤ n1 · n2 - u - 1).
    """
    size = n1 * n2 // 2 + 1
    orders = np.zeros(size)
    orders[0] = 1
    for i in range(1, n1 + 1):
        orders[n2 + i :] -= orders[: max(0, size - n2 - i)].copy()
        padded = np.concatenate([orders, np.zeros(-size % i)])
        orders = np.cumsum(padded.reshape(-1, i), axis=0).ravel()[:size]
    low = np.cumsum(orders) / comb(n1 + n2, n1)
    p = np.concatenate([low, 1 - np.append(0, low)[: n1 * n2 + 1 - size][::-1]])
    p.flags.writeable = False
    return p

"""Means of values clustered by worker, and means over people, with their intervals.

Intervals are those of the ranking: mean ± q · standard error over workers, where q is the quantile of |t*| in
a wild bootstrap (`qc.statistics.resampling`). Percentile intervals of resampled workers have too low
coverage with few workers: 83 % with 5 and 91 % with 10 (`benchmarks/qc_truth.py --runs 1000 --part means`).

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

from qc.statistics.confidence import LEVEL, NOISE, t_interval
from qc.statistics.resampling import FEWEST_EFFECTIVE, influences, unit_sums, upper_quantile, wild_draws

# With 3 or 4 workers with unequal numbers of values, coverage is 88 and 92.5 % (the same benchmark).
FEWEST_WORKERS = 5


def means_by_group(
    values: NDArray[np.float64],
    workers: NDArray[np.intp],
    groups: NDArray[np.intp],
    count: int,
    draws: int,
    rng: np.random.Generator,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the number of workers of each group, the mean, and both ends of its interval.

    Args:
        values: (rows,).
        workers: (rows,), codes; workers without rows do not count.
        groups: (rows,), codes from 0.
        count: number of groups.
        draws: number of draws of the workers' signs.
        rng: source of the draws.
        bounds: smallest and largest possible value; intervals are cut to them.

    Returns:
        Four arrays (groups,). A mean is NaN without values. An interval is NaN with fewer than FEWEST_WORKERS
        workers, if a few of many workers have most of the values, or if workers do not differ at all.
    """
    names, worker = np.unique(workers, return_inverse=True)
    columns = np.column_stack([np.ones(len(values)), values])
    sums = unit_sums(columns, worker.astype(np.intp), groups, (len(names), count))
    behind = np.count_nonzero(sums[..., 0], axis=0).astype(np.intp)
    mean, half = np.full(count, np.nan), np.full(count, np.nan)
    for group in np.flatnonzero(behind):
        own = sums[sums[:, group, 0] > 0, group]
        mean[group] = own[:, 1].sum() / own[:, 0].sum()
        if len(own) >= FEWEST_WORKERS:
            half[group] = half_width(own, draws, rng)
    low, high = (np.clip(end, *bounds) for end in (mean - half, mean + half))
    return behind, mean, low, high


def half_width(sums: NDArray[np.float64], draws: int, rng: np.random.Generator) -> float:
    """Return half of the width of a mean's interval.

    Args:
        sums: (workers, 2), counts, which need not be whole, and sums of values.
        draws: number of draws of the workers' signs.
        rng: source of the draws.

    Returns:
        NaN if workers do not differ, or a few of many have most of the counts. The result exists for any
        number of workers, but the caller must not show it for fewer than FEWEST_WORKERS.
    """
    found = influences(sums[:, None, :])
    if found.carried_by_fewer_than(FEWEST_EFFECTIVE)[0]:
        return float("nan")
    error = float(found.standard_errors()[0, 0])
    quantile = float(upper_quantile(np.abs(wild_draws(found, draws, rng).t[:, 0, 0]), LEVEL))
    return quantile * error if error > 0 and np.isfinite(quantile) else float("nan")


def interval_of_correlation(
    products: NDArray[np.float64], draws: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return r of values x and y that are deviations from a mean, and both ends of its interval.

    If x and y are scaled so that Σ x² = Σ y² = 1, r is a mean: Σ xy / Σ (x² + y²) / 2, where each worker has
    the count (x² + y²) / 2. The interval is atanh r ± (half-width of that mean) / (1 − r²).

    Args:
        products: (workers, 3), the sums of x², y² and xy of each worker; only workers with values.
        draws: number of draws of the workers' signs.
        rng: source of the draws.

    Returns:
        r is NaN if x or y does not vary. The ends are NaN as in `means_by_group`, and if r is 1 or -1.
    """
    squares = products[:, :2].sum(axis=0)
    if not squares.min(initial=np.inf) > 0:
        return float("nan"), float("nan"), float("nan")
    counts = (products[:, :2] / squares).mean(axis=1)
    shares = np.column_stack([counts, products[:, 2] / np.sqrt(squares.prod())])
    r = float(np.clip(shares[:, 1].sum(), -1, 1))
    if len(products) < FEWEST_WORKERS or 1 - abs(r) < NOISE:
        return r, float("nan"), float("nan")
    half = half_width(shares, draws, rng) / (1 - r * r)
    return r, float(np.tanh(np.arctanh(r) - half)), float(np.tanh(np.arctanh(r) + half))


def interval_of_difference(
    first: NDArray[np.float64], second: NDArray[np.float64], draws: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return the first mean minus the second, and both ends of its interval.

    Args:
        first: (workers, 2), counts and sums of values.
        second: (workers, 2), of the same workers; a worker may have values in either, or both.
        draws: number of draws of the workers' signs.
        rng: source of the draws.

    Returns:
        NaN if one mean has no value. The ends are also NaN if one of the two means has no interval, as in
        `means_by_group`.
    """
    found = influences(np.stack([first, second], axis=1))
    difference = float(found.mean[0, 0] - found.mean[1, 0])
    unknown = difference, float("nan"), float("nan")
    if found.raters.min() < FEWEST_WORKERS or found.carried_by_fewer_than(FEWEST_EFFECTIVE).any():
        return unknown
    error = float(found.standard_errors_of_differences()[0, 1])
    half = error * float(upper_quantile(wild_draws(found, draws, rng).pairs[:, 0], LEVEL))
    if not (error > 0 and np.isfinite(half)):
        return unknown
    return difference, difference - half, difference + half


def p_of_order(
    values: NDArray[np.float64],
    workers: NDArray[np.intp],
    groups: NDArray[np.intp],
    count: int,
    draws: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Return the one-sided p-value that the row's group has the higher mean than the column's.

    A draw gives each worker's contribution to the difference a sign at random, as if the worker had met the
    two groups the other way round: a paired permutation test whose units are workers. Half of the draws
    beyond |t| on both sides are beyond it on one.

    Args:
        values, workers, groups, count, draws, rng: as for `means_by_group`.

    Returns:
        (groups, groups), p[i, j] = 1 − p[j, i]; NaN as an interval in `means_by_group`, and on the diagonal.
        1/2 if two groups do not differ at all.
    """
    names, worker = np.unique(workers, return_inverse=True)
    columns = np.column_stack([np.ones(len(values)), values])
    found = influences(unit_sums(columns, worker.astype(np.intp), groups, (len(names), count)))
    first, second = np.triu_indices(count, 1)
    difference = (found.mean[:, None, 0] - found.mean[:, 0])[first, second]
    error = found.standard_errors_of_differences()[first, second]
    surely = np.where(np.abs(difference) > NOISE, np.copysign(np.inf, difference), 0.0)
    t = np.where(error > NOISE, difference / np.where(error > NOISE, error, 1), surely)
    drawn = wild_draws(found, draws, rng).pairs
    beyond = (np.count_nonzero(drawn >= np.abs(t) - NOISE, axis=0) + 1) / (draws + 1)
    known = (found.raters >= FEWEST_WORKERS) & ~found.carried_by_fewer_than(FEWEST_EFFECTIVE)
    told = known[first] & known[second]
    p = np.full((count, count), np.nan)
    lower = np.where(t > 0, beyond / 2, 1 - beyond / 2)
    lower = np.where(t == 0, 0.5, lower)
    p[first, second], p[second, first] = np.where(told, lower, np.nan), np.where(told, 1 - lower, np.nan)
    return p


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

"""Means of values that are clustered by worker, and their intervals.

Intervals are those of the ranking: mean ± q · standard error over workers, where q is the quantile of |t*| in
a wild bootstrap (`qc.statistics.wild_bootstrap`). Percentile intervals of resampled workers have too low
coverage with few workers: 83 % with 5 and 91 % with 10 (`benchmarks/qc_truth.py --runs 1000 --part means`).
"""

import numpy as np
from numpy.typing import NDArray

from qc.statistics.confidence import LEVEL
from qc.statistics.noise import NOISE
from qc.statistics.resampling import unit_sums, upper_quantile
from qc.statistics.wild_bootstrap import FEWEST_EFFECTIVE, influences, wild_draws

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

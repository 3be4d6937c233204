"""Means of values that hang together by worker, and how sure they are.

Intervals are those of the ranking: mean ± q · standard error of whole workers, q being the quantile of |t*|
of a wild bootstrap (`qc.statistics.wild_bootstrap`). Percentiles of resampled workers hold too little with
few of them: 83 % with 5 and 91 % with 10, by `benchmarks/qc_truth.py --runs 1000 --part means`.
"""

import numpy as np
from numpy.typing import NDArray

from qc.statistics.confidence import LEVEL
from qc.statistics.noise import NOISE
from qc.statistics.resampling import unit_sums, upper_quantile
from qc.statistics.wild_bootstrap import FEWEST_EFFECTIVE, influences, wild_draws

# With 3 or 4 workers, some with many values and some with few, the intervals hold 88 and 92.5 %, by the same.
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
    """Return the workers behind the mean of each group, the means, and both ends of their intervals.

    Args:
        values: (rows,).
        workers: (rows,), codes; only those that are there count.
        groups: (rows,), codes from 0.
        count: number of groups.
        draws: of the workers' signs.
        rng: source of the draws.
        bounds: what no value lies outside of; nor does an interval.

    Returns:
        Four arrays (groups,). A mean is NaN where there is no value; an interval where there are fewer than
        FEWEST_WORKERS workers, where few of many have most of the values, or where nothing is known of how
        workers differ, as all do the same.
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
        draws: of the workers' signs.
        rng: source of the draws.

    Returns:
        NaN where workers do not differ, or few of many have most of the counts; however few they are, there
        is one else, which is not to be given of fewer than FEWEST_WORKERS.
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
    """Return r of values that are deviations from a mean, and both ends of its interval.

    With x and y scaled so that Σ x² = Σ y² = 1, r is a mean like any other: Σ xy over Σ (x² + y²) / 2, each
    worker with a count of (x² + y²) / 2. The interval is atanh r ± the half width of that mean / (1 − r²).

    Args:
        products: (workers, 3), the sums of x², y² and xy of each worker, who has some.
        draws: of the workers' signs.
        rng: source of the draws.

    Returns:
        r is NaN where x or y does not vary; the ends as in `means_by_group`, and where r is 1 or -1.
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
    """Return the difference of the first mean from the second, and both ends of its interval.

    Args:
        first: (workers, 2), counts and sums of values.
        second: (workers, 2), of the same workers, each of whom may have values in either, or both.
        draws: of the workers' signs.
        rng: source of the draws.

    Returns:
        NaN where one has no value; the ends as in `means_by_group`, where one of the two has none.
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

"""Means of values that hang together by worker, and how far they would move with other workers."""

import numpy as np
from numpy.typing import NDArray

from qc.statistics.confidence import LEVEL
from qc.statistics.resampling import bootstrap_sums, percentile_interval, unit_sums


def means_by_group(
    values: NDArray[np.float64],
    workers: NDArray[np.intp],
    groups: NDArray[np.intp],
    count: int,
    draws: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the workers behind the mean of each group, the means, and both ends of their intervals.

    Intervals are percentiles of `draws` resamples of whole workers, as those of the scores.

    Args:
        values: (rows,).
        workers: (rows,), codes; only those that are there are drawn from.
        groups: (rows,), codes from 0.
        count: number of groups.
        draws: number of resamples.
        rng: source of the draws.

    Returns:
        Four arrays (groups,). A mean is NaN where there is no value, an interval where there are fewer than
        two workers.
    """
    names, worker = np.unique(workers, return_inverse=True)
    columns = np.column_stack([np.ones(len(values)), values])
    sums = unit_sums(columns, worker.astype(np.intp), groups, (len(names), count))
    behind = np.count_nonzero(sums[..., 0], axis=0).astype(np.intp)
    low = high = np.full(count, np.nan)
    if len(names):
        drawn = bootstrap_sums(sums.reshape(len(names), -1), draws, rng).reshape(draws, count, 2)
        low, high = percentile_interval(_means(drawn), LEVEL)
    known = behind > 1
    return behind, _means(sums.sum(axis=0)), np.where(known, low, np.nan), np.where(known, high, np.nan)


def _means(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (…) means from (…, 2) numbers and sums of values; NaN where there is none."""
    return np.asarray(sums[..., 1] / np.where(sums[..., 0] > 0, sums[..., 0], np.nan))

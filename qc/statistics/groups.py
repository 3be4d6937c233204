"""Means, sums and extremes of values by group, the same to the bit in whatever order the values come."""

import numpy as np
from numpy.typing import NDArray


def group_means(values: NDArray[np.float64], groups: NDArray[np.intp], count: int) -> NDArray[np.float64]:
    """Return the mean of `values` in each group, (count,); NaN for an empty group."""
    size = np.bincount(groups, minlength=count)
    return group_sums(values, groups, count) / np.where(size > 0, size, np.nan)


def group_sums(values: NDArray[np.float64], groups: NDArray[np.intp], count: int) -> NDArray[np.float64]:
    """Return the sum of `values` in each group, (count,)."""
    # Floating-point sums depend on the order of their terms: each group is added up from its lowest value.
    order = np.lexsort((values, groups))
    return np.bincount(groups[order], weights=values[order], minlength=count).astype(np.float64, copy=False)


def group_extremes(
    values: NDArray[np.float64], groups: NDArray[np.intp], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lowest and the highest value of each group in each column, both (count, columns).

    Args:
        values: (rows, columns).
        groups: (rows,), codes from 0 to `count` - 1.
        count: number of groups; an empty one has ∞ and -∞.
    """
    lowest, highest = (np.full((count, values.shape[1]), bound) for bound in (np.inf, -np.inf))
    np.minimum.at(lowest, groups, values)
    np.maximum.at(highest, groups, values)
    return lowest, highest

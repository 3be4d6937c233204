"""Sums, means and other statistics of values by group; results are bitwise independent of the order."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def group_means(values: NDArray[np.float64], groups: NDArray[np.intp], count: int) -> NDArray[np.float64]:
    """Return the mean of `values` in each group; arguments as for `group_sums`, NaN for an empty group."""
    size = np.bincount(groups, minlength=count) * (values.size / max(len(values), 1))
    return group_sums(values, groups, count) / np.where(size > 0, size, np.nan)


def group_sums(values: NDArray[np.float64], groups: NDArray[np.intp], count: int) -> NDArray[np.float64]:
    """Return the sum of `values` in each group, correct to the last bits.

    The sum of floating-point numbers depends on their order. The sum of integer multiples of one power of two
    does not, as long as no sum exceeds 2^53 of them. So each value is split into two parts: multiples of a
    larger and of a much smaller power. Source: Demmel and Nguyen, *Fast Reproducible Floating-Point
    Summation*, 21st IEEE Symposium on Computer Arithmetic, 2013, section 3 (pre-rounding).

    Args:
        values: (rows,) or (rows, columns); all columns of a row belong to the row's group.
        groups: (rows,), codes from 0 to `count` - 1.
        count: number of groups.

    Returns:
        (count,); NaN for a group with a NaN.
    """
    sums, rest = np.zeros(count), values
    largest = np.abs(values).max(initial=0, where=np.isfinite(values))
    _, headroom = np.frexp(float(values.size))
    _, exponent = np.frexp(largest)
    for bits in (exponent + headroom, exponent + 2 * headroom - 53):
        # No sum exceeds 2^bits; adding 2^bits rounds a value to multiples of its last bit.
        part = (rest + 2.0**bits) - 2.0**bits
        rest = rest - part
        of_rows = part if part.ndim == 1 else part.sum(axis=1)
        sums += np.bincount(groups, weights=of_rows, minlength=count)
    return sums


def group_varies(values: NDArray[np.float64], groups: NDArray[np.intp], count: int) -> NDArray[np.bool_]:
    """Return, (count,), whether a group has different rows; False for an empty group.

    Args:
        values: (rows, columns).
        groups: (rows,), codes from 0 to `count` - 1.
        count: number of groups.
    """
    some_row = np.zeros(count, np.intp)
    some_row[groups] = np.arange(len(groups))
    differs = (values != values[some_row[groups]]).any(axis=1)
    return np.bincount(groups[differs], minlength=count) > 0


def group_medians(values: NDArray[np.float64], groups: NDArray[np.intp], count: int) -> NDArray[np.float64]:
    """Return the median of `values`, which are finite, in each group, (count,); NaN for an empty group."""
    ranks, distinct = _ordered_within(values, groups)
    size = np.bincount(groups, minlength=count)
    start, filled = np.cumsum(size) - size, size > 0
    low, high = ((start + middle)[filled] for middle in ((size - 1) // 2, size // 2))
    medians = np.full(count, np.nan)
    medians[filled] = (distinct[ranks[low]] + distinct[ranks[high]]) / 2
    return medians


def group_mode_counts(values: NDArray[np.float64], groups: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Return how often the most frequent of `values` occurs in each group, (count,); 0 for an empty group."""
    ranks, _ = _ordered_within(values, groups)
    owners = np.repeat(np.arange(count), np.bincount(groups, minlength=count))
    begins = np.flatnonzero(
        np.diff(ranks, prepend=-1).astype(bool) | np.diff(owners, prepend=-1).astype(bool)
    )
    most = np.zeros(count, np.intp)
    np.maximum.at(most, owners[begins], np.diff(begins, append=len(ranks)))
    return most


def _ordered_within(
    values: NDArray[np.float64], groups: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the values in ascending order within ascending groups, as ranks among the distinct values."""
    ranks, distinct = pd.factorize(values, sort=True)
    # One sort of integers is several times faster than a sort by two keys.
    return np.sort(groups * len(distinct) + ranks) % max(len(distinct), 1), distinct


def distinct(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the distinct values of `codes`, integers, in ascending order.

    NumPy's `unique` uses a hash table, which takes fifty times as long for a million distinct values.
    """
    ordered = np.sort(codes, axis=None)
    return np.asarray(ordered[np.diff(ordered, prepend=ordered[:1] - 1) != 0])

"""Resample whole units (workers), with one random generator for each purpose.

A unit is drawn with all its contributions. Each unit's sums are computed once. The sums of a draw are then a
product of two matrices: how often each unit was drawn × its contributions.

The matrix library chooses the order of summation, which may differ with the number of threads. `exact` makes
every order give the same bits, so results depend only on the seed.
"""

import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cache

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]


def generator(seed: int, purpose: str) -> np.random.Generator:
    """Return the generator for `purpose`; the same seed and purpose always give the same draws."""
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])


# Size of a block of draws × units: a block that fits into the processor's cache is filled and multiplied
# faster.
BLOCK_CELLS = 2**18
# With many units a block has more cells, so that not every draw reads all contributions again.
FEWEST_DRAWS = 64
# Integers up to 2^53 are exact in float64; one bit is left for the rounding in `exact`.
EXACT_BITS = 52


def unit_sums(
    values: NDArray[np.float64], units: NDArray[np.intp], groups: NDArray[np.intp], shape: tuple[int, int]
) -> NDArray[np.float64]:
    """Return the sum of the values of each unit in each group.

    Args:
        values: (rows, columns); rows are summed in their order, which must be fixed.
        units: (rows,), codes from 0.
        groups: (rows,), codes from 0.
        shape: number of units, number of groups.

    Returns:
        (units, groups, columns); 0 if a unit has no value in a group.
    """
    cells = units * shape[1] + groups
    sums = np.empty((shape[0] * shape[1], values.shape[1]))
    for column in range(values.shape[1]):
        sums[:, column] = np.bincount(cells, weights=values[:, column], minlength=len(sums))
    return sums.reshape(*shape, values.shape[1])


def exact(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `sums` rounded so that sums of up to as many rows as it has are exact.

    Every column becomes integer multiples of a power of two. The power is small enough that no value changes
    by more than 2^-52 × (number of rows) × (largest absolute value of its column). It is large enough that
    the sum of any rows, with repetitions, up to the number of rows, is a multiple below 2^53.

    Args:
        sums: (units, columns).
    """
    largest = np.abs(sums).max(axis=0, initial=0)
    _, exponent = np.frexp(largest * len(sums))
    scale = np.ldexp(1.0, np.minimum(EXACT_BITS - exponent, 1000))  # 2^1024 would be infinite
    rounded: NDArray[np.float64] = sums * scale
    np.rint(rounded, out=rounded)
    rounded /= scale
    return rounded


def bootstrap_sums(sums: NDArray[np.float64], count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the sums of `count` bootstrap draws of units, with replacement.

    Source: Efron and Tibshirani, *An Introduction to the Bootstrap*, 1993, chapter 6; draws of whole units:
    Davison and Hinkley, *Bootstrap Methods and their Application*, 1997, section 3.8.

    Args:
        sums: (units, columns).
        count: number of draws.
        rng: source of the draws.

    Returns:
        (count, columns).
    """
    units = len(sums)

    def times_drawn() -> NDArray[np.intp]:
        return np.bincount(rng.integers(units, size=units), minlength=units)

    return _drawn_sums(sums, count, times_drawn)


def half_sums(
    sums: NDArray[np.float64], count: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sums of both halves in `count` random splits of the units.

    Args:
        sums: (units, columns).
        count: number of independent splits.
        rng: source of the draws.

    Returns:
        Two arrays (count, columns); with an odd number of units the second half has one more.
    """
    units = len(sums)

    def in_first() -> NDArray[np.bool_]:
        chosen = np.zeros(units, bool)
        if units > 1:
            chosen[np.argpartition(rng.random(units), units // 2)[: units // 2]] = True
        return chosen

    first = _drawn_sums(sums, count, in_first)
    return first, exact(sums).sum(axis=0) - first


def signed_sums(
    sums: NDArray[np.float64], count: int, rng: np.random.Generator
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Yield, block by block, the sums of all units with random signs.

    Args:
        sums: (units, columns).
        count: number of draws.
        rng: source of the signs.

    Yields:
        The slice of the draws, and their sums, (draws, columns); the array is reused for the next block.
    """
    units = len(sums)

    def signs(block: NDArray[np.float64]) -> None:
        # Random bytes come four at a time, so rows are padded to multiples of four: the draws are then the
        # same as with one call for each draw.
        drawn = rng.integers(0, 2, size=(len(block), -(-units // 4) * 4), dtype=np.int8)
        np.subtract(2 * drawn[:, :units], 1, out=block, dtype=np.float64)

    yield from _blocks(sums, count, signs)


def _drawn_sums(
    sums: NDArray[np.float64], count: int, weights: Callable[[], NDArray[np.generic]]
) -> NDArray[np.float64]:
    """Return weighted sums of the units, (count, columns); `weights` returns a draw's weights, (units,)."""

    def fill(block: NDArray[np.float64]) -> None:
        for row in block:
            row[:] = weights()

    drawn = np.empty((count, sums.shape[1]))
    for rows, block in _blocks(sums, count, fill):
        drawn[rows] = block
    return drawn


def _blocks(
    sums: NDArray[np.float64], count: int, fill: Callable[[NDArray[np.float64]], None]
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Yield the rows of `_drawn_sums` in blocks; `fill` writes the weights of draws, (draws, units)."""
    units, columns = sums.shape
    terms = exact(sums)
    size = max(1, min(count, max(FEWEST_DRAWS, BLOCK_CELLS // max(units, columns, 1))))
    block, drawn = np.empty((size, units)), np.zeros((size, columns))
    for start in range(0, count, size):
        rows = min(size, count - start)
        if units:
            fill(block[:rows])
        # One thread: on busy cores, two threads of the matrix library were 40 times slower than one.
        with one_thread():
            np.matmul(block[:rows], terms, out=drawn[:rows])
        yield slice(start, start + rows), drawn[:rows]


def one_thread() -> AbstractContextManager[object]:
    """Return a context in which the matrix library uses one thread."""
    limited: AbstractContextManager[object] = _matrix_libraries().limit(limits=1, user_api="blas")
    return limited


@cache
def _matrix_libraries() -> ThreadpoolController:
    """Return the libraries that NumPy has loaded. To look for them takes longer than a small product."""
    return ThreadpoolController()


def percentile_interval(
    draws: NDArray[np.float64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bounds of the middle `level` of the draws, without NaN draws.

    Percentiles are interpolated linearly, as NumPy's default does.

    Source: Efron and Tibshirani, 1993, section 13.3 (percentile interval).

    Args:
        draws: (draws, …).
        level: share of the draws within the bounds, for example 0.95.

    Returns:
        Two arrays of the shape of one draw; NaN if every draw is NaN.
    """
    ordered = np.sort(draws, axis=0)  # NaN comes last
    last = np.count_nonzero(~np.isnan(draws), axis=0) - 1
    low, high = (_interpolated(ordered, last, share) for share in ((1 - level) / 2, (1 + level) / 2))
    return low, high


def upper_quantile(draws: NDArray[np.float64], level: float) -> NDArray[np.float64]:
    """Return, for each column, the value that another draw does not exceed with probability at least `level`.

    With B draws this is the ⌈level (B + 1)⌉-th smallest.

    Source: Davison and Hinkley, 1997, section 4.2.5 (a test by Monte Carlo at an exact level).

    Args:
        draws: (draws, …), none of them NaN.
        level: for example 0.95.
    """
    row = min(int(np.ceil(level * (len(draws) + 1))), len(draws)) - 1
    return np.asarray(np.partition(draws, row, axis=0)[row])


def _interpolated(ordered: NDArray[np.float64], last: NDArray[np.intp], share: float) -> NDArray[np.float64]:
    """Return the value at `share` of the way from row 0 to row `last` of each column."""
    if len(ordered) == 0:
        return np.full(ordered.shape[1:], np.nan)
    row = share * np.maximum(last, 0)
    below = np.floor(row).astype(np.intp)
    above = np.minimum(below + 1, np.maximum(last, 0))
    lower, upper = (np.take_along_axis(ordered, at[None], axis=0)[0] for at in (below, above))
    return np.asarray(lower + (row - below) * (upper - lower))

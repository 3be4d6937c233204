"""Coefficients of correlation: Pearson's r, Spearman's ρ, Kendall's τ-b.

Noise is rounded off first (`qc.statistics.noise`): scores are means, and noise of their sums must neither
break a tie nor give scores that do not vary a correlation.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qc.statistics.noise import NOISE, without_noise

FEWEST_POINTS = 3

Method = Literal["pearson", "spearman", "kendall"]


def pearson(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return Pearson's r of the points (x, y).

    Args:
        x: (n,); a point with NaN in `x` or `y` takes no part.
        y: (n,).

    Returns:
        -1 to 1; NaN with fewer than 3 points, or if `x` or `y` does not vary.
    """
    return _of_points(x, y, _pearson)


def spearman(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return Spearman's ρ, Pearson's r of the midranks; arguments and NaN as for `pearson`."""
    return _of_points(x, y, _spearman)


def kendall(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return Kendall's τ-b; arguments and NaN as for `pearson`. Quadratic in the number of points.

    Source: Kendall, *Rank Correlation Methods*, 1948, chapter 3 (ties).
    """
    return _of_points(x, y, _kendall)


def correlation_matrix(columns: NDArray[np.float64], method: Method) -> NDArray[np.float64]:
    """Return the correlation of every two columns.

    Args:
        columns: (n, K).
        method: the coefficient.

    Returns:
        (K, K), symmetric; the diagonal is 1, or NaN where a column does not vary or has too few points.
    """
    correlate = _METHODS[method]
    size = columns.shape[1]
    matrix = np.empty((size, size))
    for i in range(size):
        for j in range(i + 1):
            matrix[i, j] = matrix[j, i] = correlate(columns[:, i], columns[:, j])
    return matrix


def pearson_of_rows(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Pearson's r of each row of the one array with that of the other.

    Args:
        first: (…, n); a place with NaN in either row takes no part.
        second: (…, n), or what can be broadcast with `first`.

    Returns:
        (…,); NaN where fewer than 3 places take part, or one of the rows does not vary.
    """
    both = np.isfinite(first) & np.isfinite(second)
    a, b = (row_deviations(values, both) for values in (first, second))
    lengths = np.sqrt((a * a).sum(axis=-1)), np.sqrt((b * b).sum(axis=-1))
    defined = (both.sum(axis=-1) >= FEWEST_POINTS) & (np.minimum(*lengths) > NOISE)
    r = (a * b).sum(axis=-1) / np.where(defined, lengths[0] * lengths[1], np.nan)
    return np.asarray(np.clip(r, -1, 1))


def row_deviations(values: NDArray[np.float64], taking_part: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the deviations, (…, n), from the mean of those that take part in each row; 0 for the others."""
    present = np.where(taking_part, values, 0)
    count = np.maximum(taking_part.sum(axis=-1, keepdims=True), 1)
    return np.where(taking_part, present - present.sum(axis=-1, keepdims=True) / count, 0)


_METHODS: dict[Method, Callable[[NDArray[np.float64], NDArray[np.float64]], float]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
}


def _of_points(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    correlate: Callable[[NDArray[np.float64], NDArray[np.float64]], float],
) -> float:
    """Return what `correlate` makes of the points that are there, or NaN if they have no correlation."""
    there = ~(np.isnan(x) | np.isnan(y))
    x, y = (without_noise(values[there]) for values in (x, y))
    if len(x) < FEWEST_POINTS or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(np.clip(correlate(x, y), -1, 1))


def _pearson(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    dx, dy = x - x.mean(), y - y.mean()
    return float((dx * dy).sum() / np.sqrt((dx * dx).sum() * (dy * dy).sum()))


def _spearman(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    return _pearson(_midranks(x), _midranks(y))


def _midranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank of each value, from 1; ties share the mean of their ranks."""
    _, which, times = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(times) - (times - 1) / 2)[which])


def _kendall(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    sx, sy = (np.sign(values[:, None] - values) for values in (x, y))
    return float((sx * sy).sum() / np.sqrt((sx * sx).sum() * (sy * sy).sum()))

"""Width of the interval of a mean by number of judgments, with and without a metric, by resampling.

Outputs are drawn with replacement, with a new judgment for each draw, and the slope is fitted again each
time. The pool's moments stay fixed, so the pool is treated as infinite. Source: Chaganty, Mussmann and Liang,
ACL 2018, section 5 and figure 6.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.progress import OnStep, no_step

# Draws at a time; limits the memory.
BLOCK_CELLS = 2**21
SHARES = tuple(tenth / 10 for tenth in range(2, 10))


@dataclass(frozen=True)
class WidthCurve:
    """Widths of intervals at several numbers of judgments.

    Attributes:
        level: level of the intervals.
        n: (P,), numbers of judgments.
        mean, control_variate: (P,), widths for ȳ and μ̃.
        de: mean of (width of ȳ / width of μ̃)²: data efficiency by resampling; below 1 the metric makes the
            estimate worse.
    """

    level: float
    n: NDArray[np.intp]
    mean: NDArray[np.float64]
    control_variate: NDArray[np.float64]
    de: float


def curve_points(pool: int) -> list[int]:
    """Return the numbers of judgments of a curve: from 0.2 N to 0.9 N in tenths of N, none below 2."""
    return sorted({max(2, round(share * pool)) for share in SHARES})


def width_curve(
    values: NDArray[np.float64],
    outputs: NDArray[np.intp],
    metric: NDArray[np.float64],
    points: list[int],
    level: float,
    draws: int,
    rng: np.random.Generator,
    on_step: OnStep = no_step,
) -> WidthCurve:
    """Return the widths at each of `points`.

    Args:
        values: (K,), judgments.
        outputs: (K,), codes of their outputs.
        metric: (K,), metric of these outputs, standardised on the pool.
        points: numbers of judgments.
        level: level of the intervals, which are percentiles.
        draws: resamples for each number.
        rng: source of the draws.
        on_step: called before each point.
    """
    draw = _drawer(values, outputs, metric, rng)
    widths = np.empty((len(points), 2))
    for row, n in enumerate(points):
        on_step(f"Resampling {n} judgments")
        widths[row] = _widths(draw, n, level, draws)
    with np.errstate(divide="ignore", invalid="ignore"):
        de = float(np.mean((widths[:, 0] / widths[:, 1]) ** 2))
    return WidthCurve(level, np.asarray(points, np.intp), widths[:, 0], widths[:, 1], de)


def _drawer(
    values: NDArray[np.float64],
    outputs: NDArray[np.intp],
    metric: NDArray[np.float64],
    rng: np.random.Generator,
) -> Callable[[tuple[int, int]], tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return a function that draws judgments and their metrics in a shape."""
    order = np.argsort(outputs, kind="stable")
    _, first, k = np.unique(outputs[order], return_index=True, return_counts=True)
    values, metric = values[order], metric[order]

    def draw(shape: tuple[int, int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        chosen = rng.integers(len(k), size=shape)
        at = first[chosen] + (rng.random(shape) * k[chosen]).astype(np.intp)
        return values[at], metric[at]

    return draw


def _widths(
    draw: Callable[[tuple[int, int]], tuple[NDArray[np.float64], NDArray[np.float64]]],
    n: int,
    level: float,
    draws: int,
) -> NDArray[np.float64]:
    """Return the widths of the percentile intervals of ȳ and μ̃ at `n` judgments, (2,)."""
    estimates = np.empty((draws, 2))
    size = max(1, BLOCK_CELLS // n)
    for start in range(0, draws, size):
        y, g = draw((min(size, draws - start), n))
        mean, mean_g = y.mean(axis=1), g.mean(axis=1)
        alpha = (y * g).mean(axis=1) - mean * mean_g
        estimates[start : start + size] = np.column_stack([mean, mean - alpha * mean_g])
    low, high = np.quantile(estimates, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return np.asarray(high - low)

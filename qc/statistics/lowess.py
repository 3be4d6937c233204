"""LOWESS: a smooth curve through points, which outliers hardly move.

At each place a line is fitted to the nearest points, nearer ones with more weight (tricube). The fits are
repeated with less weight for points far from the curve (bisquare). With many distinct places the fits are at
some of them, and the curve is linear in between. Of very many points, some represent the others.

Source: Cleveland, *Robust locally weighted regression and smoothing scatterplots*, Journal of the American
Statistical Association 74, 1979, section 2; its defaults: two thirds of the points, and two repetitions
(three here, as in R's `lowess`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SHARE = 2 / 3
REPEATS = 3
# Residuals beyond this many medians have no weight.
FARTHEST = 6
MOST_PLACES = 100
MOST_POINTS = 2_000
# Fewer points show no curve.
FEWEST_POINTS = 20


class Curve(NamedTuple):
    """A curve: `x`, ascending and distinct, and `y`, both (places,)."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]


def lowess(
    x: NDArray[np.float64], y: NDArray[np.float64], share: float = SHARE, repeats: int = REPEATS
) -> Curve:
    """Return the curve through the points (x, y), both (points,) and finite.

    Args:
        x: where the points are; a metric, for example.
        y: what is smoothed.
        share: share of the points that each fit uses.
        repeats: number of repetitions with less weight for outliers.
    """
    if len(x) > MOST_POINTS:
        order = np.lexsort((y, x))
        taken = order[np.linspace(0, len(x) - 1, MOST_POINTS).astype(np.intp)]
        x, y = x[taken], y[taken]
    places = np.unique(x)
    if len(places) > MOST_PLACES:
        places = np.unique(places[np.linspace(0, len(places) - 1, MOST_PLACES).astype(np.intp)])
    nearest = min(max(int(share * len(x) + 1e-10), 2), len(x))
    trust = np.ones(len(x))
    heights = _heights(places, x, y, nearest, trust)
    for _ in range(repeats):
        distance = np.abs(y - np.interp(x, places, heights))
        median = float(np.median(distance))
        if median == 0:
            break
        trust = (1 - np.minimum(distance / (FARTHEST * median), 1) ** 2) ** 2
        heights = _heights(places, x, y, nearest, trust)
    return Curve(places, heights)


def _heights(
    places: NDArray[np.float64],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    nearest: int,
    trust: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the curve's height at each place; the points' weights are multiplied by `trust`."""
    heights = np.empty(len(places))
    for number, place in enumerate(places.tolist()):
        away = np.abs(x - place)
        radius = float(np.partition(away, nearest - 1)[nearest - 1])
        near = away < radius if radius > 0 else away == 0
        weights = (1 - (away[near] / radius) ** 3) ** 3 if radius > 0 else np.ones(int(near.sum()))
        weights = weights * trust[near]
        if not weights.sum() > 0:
            weights = np.ones(len(weights))
        heights[number] = _line(x[near] - place, y[near], weights / weights.sum())
    return heights


def _line(x: NDArray[np.float64], y: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Return the height at 0 of the weighted line through points; their mean if all are at one place."""
    middle, height = float(weights @ x), float(weights @ y)
    spread = float(weights @ (x - middle) ** 2)
    if spread <= 1e-12 * float(np.max(x * x, initial=0)) or spread == 0:
        return height
    return height - middle * float(weights @ ((x - middle) * y)) / spread

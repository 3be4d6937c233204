"""Bootstrap intervals of a mean without and with control variate: of outputs, and of workers.

What is drawn comes with everything it has: an output with all its judgments, a worker with all they judged.
The slope is fitted anew in each draw, and the outputs that nobody judged are drawn, too, because a pool that
ends is known no better than that. Sources: Chaganty, Mussmann and Liang, ACL
2018, section 5; that whole units are drawn: Davison and Hinkley, 1997, section 3.8.
"""

import numpy as np
from numpy.typing import NDArray

from qc.estimators.pool_mean import Interval
from qc.statistics.resampling import bootstrap_sums, percentile_interval


def resampled_means(
    values: NDArray[np.float64],
    metric: NDArray[np.float64],
    weights: NDArray[np.float64],
    units: NDArray[np.intp],
    unrated: NDArray[np.float64],
    level: float,
    draws: int,
    rng: np.random.Generator,
) -> tuple[Interval, Interval]:
    """Return the percentile intervals of ȳ and of μ̃; NaN with fewer than two units.

    Args:
        values: (K,), judgments.
        metric: (K,), of the outputs that they are of, standardised on the pool; all 0 for none.
        weights: (K,), how much each judgment counts; for the pool's sake those of an output add up to 1.
        units: (K,), codes of what is drawn: outputs or workers.
        unrated: the metric of the outputs that nobody judged, standardised likewise; none leaves μ̃ = ȳ.
        level: of the intervals.
        draws: number of resamples.
        rng: source of the draws.
    """
    _, of = np.unique(units, return_inverse=True)
    columns = (weights, weights * values, weights * metric, weights * values * metric)
    sums = np.stack([np.bincount(of, column).astype(np.float64) for column in columns], axis=1)
    if len(sums) < 2:
        nothing = Interval(float("nan"), float("nan"), float("nan"))
        return nothing, nothing
    size, y, g, product = bootstrap_sums(sums, draws, rng).T
    mean, mean_g = y / size, g / size
    left = len(unrated) / (len(unrated) + float(weights.sum()))
    of_unrated = bootstrap_sums(unrated[:, None], draws, rng)[:, 0] / max(len(unrated), 1)
    estimate = mean - (product / size - mean * mean_g) * left * (mean_g - of_unrated)
    return _interval(mean, level), _interval(estimate, level)


def _interval(draws: NDArray[np.float64], level: float) -> Interval:
    low, high = percentile_interval(draws, level)
    return Interval(float(low), float(high), float(draws.std(ddof=1)))

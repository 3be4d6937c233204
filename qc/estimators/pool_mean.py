"""Estimate a system's mean from judgments and a pool of unjudged outputs, and the width of its interval.

Every rated output counts once; each of its k judgments has the weight 1/k. So if the whole pool is rated, the
estimate is exactly the mean, for any metric. The error of μ̃ is a sum of contributions: from each judgment,
(y − α g − μ̃) / (m k) + α g / (N k) for m rated outputs of N, and from the metric of each unrated output, α g
/ N. If outputs were independent, the variance would be s_e² / m + α² / N. Here the judgments of one worker,
and those of one output, may be correlated (`qc.estimators.standard_error`). This is the interval of record.

Outputs are drawn with replacement, with a new judgment for each draw, and the slope is fitted again each
time. The pool's moments stay fixed, so the pool is treated as infinite. Source: Chaganty, Mussmann and Liang,
ACL 2018, section 5 and figure 6.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from qc.estimators.standard_error import error_of_record
from qc.options import OnStep, no_step
from qc.statistics.resampling import bootstrap_sums, percentile_interval


# The metric of all outputs shows how the rated outputs compare with the pool. If the rated ones have a
# higher metric than the average of the pool, their mean is corrected downwards, by as much as judgments
# depend on the metric. With the metric g standardised on the pool, α̂ = (1/n) Σ (y − ȳ) g and μ̃ = (1/n) Σ
# (y − α̂ g).
#
# Source: Chaganty, Mussmann and Liang, ACL 2018, section 3.2 and algorithm 1. A finite pool of N outputs adds
# α̂² / N to the variance of μ̃; if all outputs are rated, μ̃ = ȳ.
@dataclass(frozen=True, slots=True)
class ControlVariate:
    """The mean of n values, without and with control variate.

    Attributes:
        n: outputs with a value.
        pool: N, outputs with the metric.
        mean: ȳ.
        alpha: α̂, in the unit of the values.
        estimate: μ̃.
        se_mean: standard error of ȳ.
        se_endless: standard error of μ̃ with an infinite pool: sd of y − α̂ g, with n − 1, over √n.
        se_estimate: standard error of μ̃ with this pool.
    """

    n: int
    pool: int
    mean: float
    alpha: float
    estimate: float
    se_mean: float
    se_endless: float
    se_estimate: float


def on_pool(metric: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the metric of all outputs, (N,), with mean 0 and sd (divisor N) 1; all 0 if it is constant."""
    deviations = metric - metric.mean()
    if (metric == metric[:1]).all():
        return np.zeros(len(metric))
    return np.asarray(deviations / metric.std())


def control_variate(values: NDArray[np.float64], metric: NDArray[np.float64], pool: int) -> ControlVariate:
    """Return the mean of `values` without and with control variate.

    Args:
        values: (n,), one for each rated output: a judgment, or the mean of several. At least two.
        metric: (n,), metric of these outputs, standardised on the pool (`on_pool`).
        pool: N, the number of outputs in the pool, including the rated ones.
    """
    n, mean = len(values), float(values.mean())
    alpha = float(((values - mean) * metric).mean())
    residuals = values - alpha * metric
    endless = float(residuals.std(ddof=1) / np.sqrt(n))
    return ControlVariate(
        n=n,
        pool=pool,
        mean=mean,
        alpha=alpha,
        # If the whole pool is rated, its metrics add up to 0 except for rounding.
        estimate=mean if n == pool else float(residuals.mean()),
        se_mean=float(values.std(ddof=1) / np.sqrt(n)),
        se_endless=endless,
        se_estimate=float(np.sqrt(endless**2 + alpha**2 / pool)),
    )


# With M metrics, α is the vector of slopes S⁻¹ Cov(y, g), S the metrics' correlations on the pool: Lavenberg
# and Welch, Management Science 27, 1981.
def predictable_residuals(
    values: NDArray[np.float64],
    metrics: NDArray[np.float64],
    correlations: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return y_i − α_(i−1) · g_i, with the α̂ of all earlier values, 0 for the first M + 1.

    No value affects its own correction. So their mean is exactly unbiased for any metrics, and they can be
    used in a confidence sequence while data come in (`qc.precision.confidence_sequence`).

    Args:
        values: (n,), in order of arrival.
        metrics: (n,) or (n, M), standardised on the pool.
        correlations: (M, M), of the metrics on the pool; None for one metric.

    Returns:
        (n,).
    """
    g = metrics.reshape(len(values), -1)
    count = np.arange(1, len(values) + 1)[:, None]
    sums_y, sums_g, products = (
        np.cumsum(each, axis=0) / count for each in (values[:, None], g, values[:, None] * g)
    )
    alphas = products - sums_y * sums_g
    if correlations is not None:
        alphas = alphas @ np.linalg.pinv(correlations)
    first = g.shape[1] + 1
    before = np.concatenate([np.zeros((first, g.shape[1])), alphas[first - 1 : -1]])[: len(values)]
    return np.asarray(values - (before * g).sum(axis=1))


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of an estimate: its ends and its standard error; NaN if there is none."""

    low: float
    high: float
    se: float

    @property
    def width(self) -> float:
        """Width of the interval."""
        return self.high - self.low

    def within(self, ends: tuple[float, float]) -> "Interval":
        """Return the part between the ends of the scale, where the true mean is."""
        low, high = (float(np.clip(end, *ends)) for end in (self.low, self.high))
        return replace(self, low=low, high=high)


@dataclass(frozen=True, slots=True)
class PoolMean:
    """A mean, and its intervals.

    Attributes:
        estimate: estimate of the system's mean.
        normal: estimate ± z · se, as if only outputs varied.
        clustered: the interval of record: judgments of one worker and of one output may be correlated; NaN if
            workers are unknown.
    """

    estimate: float
    normal: Interval
    clustered: Interval


# Outputs that were drawn with unequal probabilities π weigh by 1 / π, divided by the sum of these weights, in
# ȳ, in the slope and in μ̃; so the mean of the pool is estimated, whatever the π depended on. Sources: Zrnic
# and Candès, *Active statistical inference*, ICML 2024 (the metric of the whole pool, corrected by
# judgments that weigh by 1 / π); Hájek's ratio in place of the pool's size, as in Särndal, Swensson and
# Wretman, *Model assisted survey sampling*, 1992, section 5.7, so that equal π change nothing.
def pool_means(
    values: NDArray[np.float64],
    outputs: NDArray[np.intp],
    workers: NDArray[np.intp] | None,
    pool: NDArray[np.float64],
    level: float,
    probabilities: NDArray[np.float64] | None = None,
    slope: float | None = None,
) -> tuple[PoolMean, PoolMean]:
    """Return the mean without and with control variate.

    Args:
        values: (K,), judgments.
        outputs: (K,), rows of their outputs in the pool; at least two different ones.
        workers: (K,), codes; None if unknown.
        pool: (N,), the metric of all outputs, standardised (`on_pool`); all 0 for none.
        level: level of the intervals, for example 0.95.
        probabilities: (N,), of being drawn to be judged, known for all judged outputs; None if equal.
        slope: α; None to fit it.
    """
    rated, of, k = np.unique(outputs, return_inverse=True, return_counts=True)
    means = np.bincount(of, values) / k
    unrated = np.ones(len(pool), bool)
    unrated[rated] = False
    inverse = np.ones(len(rated)) if probabilities is None else 1 / probabilities[rated]
    shares = inverse / inverse.sum()
    if probabilities is None and slope is None:
        by_output = control_variate(means, pool[rated], len(pool))
    else:
        by_output = _weighted(means, pool[rated], shares, len(pool), slope)
    g, weights = pool[outputs], shares[of] / k[of]
    plain = weights * (values - by_output.mean)
    shared = by_output.alpha * g / (len(pool) * k[of])
    varied = weights * (values - by_output.estimate - by_output.alpha * g) + shared
    added = (by_output.alpha / len(pool)) ** 2 * float((pool[unrated] ** 2).sum())
    return (
        PoolMean(
            by_output.mean,
            _normal(by_output.mean, by_output.se_mean, level),
            _clustered(by_output.mean, plain, weights, outputs, workers, 0.0, level),
        ),
        PoolMean(
            by_output.estimate,
            _normal(by_output.estimate, by_output.se_estimate, level),
            _clustered(by_output.estimate, varied, weights, outputs, workers, added, level),
        ),
    )


def _weighted(
    values: NDArray[np.float64],
    metric: NDArray[np.float64],
    shares: NDArray[np.float64],
    pool: int,
    slope: float | None,
) -> ControlVariate:
    """Return the same as `control_variate` for outputs with the weights `shares`, which add up to 1."""
    n, mean = len(values), float((shares * values).sum())
    alpha = float((shares * (values - mean) * metric).sum()) if slope is None else slope
    residuals = values - alpha * metric
    estimate = mean if n == pool else float((shares * residuals).sum())
    of_mean, of_estimate = (
        n / (n - 1) * float(((shares * each) ** 2).sum()) for each in (values - mean, residuals - estimate)
    )
    return ControlVariate(
        n=n,
        pool=pool,
        mean=mean,
        alpha=alpha,
        estimate=estimate,
        se_mean=float(np.sqrt(of_mean)),
        se_endless=float(np.sqrt(of_estimate)),
        se_estimate=float(np.sqrt(of_estimate + alpha**2 / pool)),
    )


def _normal(estimate: float, se: float, level: float) -> Interval:
    reach = float(ndtri((1 + level) / 2)) * se
    return Interval(estimate - reach, estimate + reach, se)


def _clustered(
    estimate: float,
    contributions: NDArray[np.float64],
    weights: NDArray[np.float64],
    outputs: NDArray[np.intp],
    workers: NDArray[np.intp] | None,
    added: float,
    level: float,
) -> Interval:
    """Return the interval of record; NaN if workers are unknown or too few."""
    if workers is None:
        return Interval(float("nan"), float("nan"), float("nan"))
    error = error_of_record(contributions, weights, workers, outputs, added)
    reach = error.reach(level)
    return Interval(estimate - reach, estimate + reach, error.se)


# Whole units are drawn: an output with all its judgments, a worker with all their judgments. The slope is
# fitted again in each draw. The unjudged outputs are drawn too, because a finite pool is a sample as well.
# Sources: Chaganty, Mussmann and Liang, ACL 2018, section 5; draws of whole units: Davison and Hinkley,
# 1997, section 3.8.
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
        metric: (K,), metric of their outputs, standardised on the pool; all 0 for none.
        weights: (K,), weight of each judgment; the weights of an output's judgments add up to 1.
        units: (K,), codes of the units to draw: outputs or workers.
        unrated: standardised metric of the unjudged outputs; if empty, μ̃ = ȳ.
        level: level of the intervals.
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

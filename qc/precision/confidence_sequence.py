"""Confidence sequences: intervals of a mean that stay valid if you check them after every judgment.

An interval for an n fixed in advance is not valid if you check it repeatedly until it is narrow or excludes a
value: it then misses far more often than its level says. A confidence sequence has an interval for each n,
and with probability 1 − α none of them misses.

Both sequences assume one judgment per worker, in an order that is independent of the values. With several
judgments of one worker, pass the means of workers (`worker_stream`); the target is then the mean over
workers.

Sources: Waudby-Smith and Ramdas, *Estimating means of bounded random variables by betting*, Journal of the
Royal Statistical Society B 86, 2024 (bounded); Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, *Time-uniform
central limit theory and asymptotic confidence sequences*, Annals of Statistics 52, 2024 (asymptotic).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.estimators.joint_metric import named_metrics
from qc.estimators.pool_mean import on_pool, predictable_residuals
from qc.judgments import Judged
from qc.statistics.confidence import LEVEL, NOISE

# Chaganty, Mussmann and Liang (ACL 2018) propose to stop by such bounds. For human evaluations they are too
# wide to be useful: with 107 judgments of sd 25 on 0 to 100 they are ±18, ±17 and ±44.
STOPPING_POWER = 1.1


def audibert(n: int, sd: float, reach: float, delta: float) -> float:
    """Return the half-width at a fixed n.

    Source: Audibert, Munos and Szepesvári, Theoretical Computer Science 410, 2009.

    Args:
        n: number of values.
        sd: standard deviation of the values, with divisor n.
        reach: R, the largest possible distance of two values.
        delta: probability of missing.
    """
    log = np.log(3 / delta)
    return float(sd * np.sqrt(2 * log / n) + 3 * reach * log / n)


def maurer_pontil(n: int, sd: float, reach: float, delta: float) -> float:
    """Return the two-sided half-width at a fixed n: Maurer and Pontil, COLT 2009; `sd` has n − 1."""
    log = np.log(4 / delta)
    return float(sd * np.sqrt(2 * log / n) + 7 * reach * log / (3 * (n - 1)))


def stopping(n: int, sd: float, reach: float, delta: float) -> float:
    """Return the half-width of EBStop at time n: Mnih, Szepesvári and Audibert, ICML 2008.

    It may be checked after each value, because time t gets the part δ (p − 1) / (p t^p) of δ, with p =
    STOPPING_POWER. Arguments as for `audibert`.
    """
    share = (STOPPING_POWER - 1) / (STOPPING_POWER * n**STOPPING_POWER)
    return audibert(n, sd, reach, delta * share)


TRUNCATION = 0.5
# With fewer values the asymptotic sequence is not justified.
FIRST_LOOK = 20
# Nor where a smaller share than this differs from the commonest value, and fewer than FIRST_LOOK values do:
# the rare values come late, and until then the interval is too narrow. It would miss in 11 % of streams where
# one in twenty differs, and in 27 % where nine in ten have the best of five levels.
SHARE_OF_OTHERS = 0.3
# Nor with fewer values than this times the square of their skewness. For a normal interval at a fixed n,
# Cochran (*Sampling Techniques*, 3rd edition, 1977, section 2.15) asks for 25 times the square, so that 95 %
# are at least 94; for all n together we ask for twice as many. Without it, intervals of long-tailed values
# miss in up to a third of the streams (`benchmarks/qc_truth.py --part looks`).
VALUES_PER_SKEWNESS = 50


@dataclass(frozen=True, slots=True)
class ConfidenceSequence:
    """An interval after each of n values: `centre` ± `half_width`, both (n,)."""

    centre: NDArray[np.float64]
    half_width: NDArray[np.float64]

    def first_within(self, target: float, minimum: int = FIRST_LOOK) -> int | None:
        """Return the first n, from `minimum` on, with a half-width of at most `target`; None if none."""
        narrow = np.flatnonzero(self.half_width[minimum - 1 :] <= target)
        return int(narrow[0]) + minimum if len(narrow) else None

    def scaled(self, low: float, high: float) -> "ConfidenceSequence":
        """Return the sequence, for values on [0, 1], converted to the scale from `low` to `high`."""
        return ConfidenceSequence(low + (high - low) * self.centre, (high - low) * self.half_width)


def bounded(values: NDArray[np.float64], alpha: float) -> ConfidenceSequence:
    """Return the predictable plug-in empirical-Bernstein sequence: exact, for any values in [0, 1].

    Args:
        values: (n,), in order of arrival, each in [0, 1].
        alpha: upper bound of the probability that any interval misses.

    Raises:
        ValueError: a value is outside [0, 1], so there is no guarantee.
    """
    if len(values) and not (values.min() >= 0 and values.max() <= 1):
        raise ValueError(f"values go from {values.min():g} to {values.max():g}; put them on [0, 1]")
    t = np.arange(1, len(values) + 1)
    means = (0.5 + np.cumsum(values)) / (t + 1)
    variances = (0.25 + np.cumsum((values - means) ** 2)) / (t + 1)
    earlier_means = np.concatenate([[0.5], means])[: len(values)]
    earlier_variances = np.concatenate([[0.25], variances])[: len(values)]
    bets = np.minimum(np.sqrt(2 * np.log(2 / alpha) / (earlier_variances * t * np.log1p(t))), TRUNCATION)
    psi = (-np.log1p(-bets) - bets) / 4
    staked = np.cumsum(bets)
    reach = np.log(2 / alpha) + np.cumsum(4 * (values - earlier_means) ** 2 * psi)
    return ConfidenceSequence(np.cumsum(bets * values) / staked, reach / staked)


def asymptotic(
    values: NDArray[np.float64], alpha: float, tightest: int, judged: NDArray[np.float64] | None = None
) -> ConfidenceSequence:
    """Return the asymptotic sequence: for unbounded values, narrower, and valid for large n.

    With control variates, pass `pool_mean.predictable_residuals` as values.

    Args:
        values: (n,), in order of arrival.
        alpha: probability that any interval misses.
        tightest: the n at which the interval should be narrowest.
        judged: (n,), the judgments, if `values` are their residuals.

    Returns:
        Half-widths are NaN below FIRST_LOOK values, while nearly all judgments are the same, and while there
        are fewer values than VALUES_PER_SKEWNESS times their squared skewness.
    """
    t = np.arange(1, len(values) + 1)
    means = np.cumsum(values) / t
    # Subtract the first value: squares of values far from 0 would lose precision.
    moved = values - values[:1]
    variance = np.maximum(np.cumsum(moved**2) / t - (np.cumsum(moved) / t) ** 2, 0)
    rho2 = (-2 * np.log(alpha) + np.log(1 - 2 * np.log(alpha))) / tightest
    grown = t * rho2 + 1
    half_width = np.sqrt(variance * 2 * grown / (t**2 * rho2) * np.log(np.sqrt(grown) / alpha))
    half_width[: FIRST_LOOK - 1] = np.nan
    of_judged = values if judged is None else judged
    others = _others(of_judged)
    half_width[(others < FIRST_LOOK) & (others < SHARE_OF_OTHERS * t)] = np.nan
    for each in (values, of_judged):
        half_width[t < VALUES_PER_SKEWNESS * _skewness(each) ** 2] = np.nan
    return ConfidenceSequence(means, half_width)


def _skewness(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the skewness of the first 1, 2, … n values, (n,): 0 while they do not vary."""
    t, moved = np.arange(1, len(values) + 1), values - values[:1]
    first, second, third = (np.cumsum(moved**power) / t for power in (1, 2, 3))
    variance = second - first**2
    varies = variance > NOISE * second
    cubes = third - 3 * first * second + 2 * first**3
    return np.where(varies, cubes / np.where(varies, variance, 1) ** 1.5, 0)


def _others(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return how many of the first 1, 2, … n values differ from the commonest of them, (n,)."""
    _, kind, sizes = np.unique(values, return_inverse=True, return_counts=True)
    order = np.argsort(kind, kind="stable")
    places = np.arange(1, len(values) + 1)
    times = np.empty(len(values), np.intp)
    times[order] = places - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.asarray(places - np.maximum.accumulate(times))


def worker_stream(values: NDArray[np.float64], workers: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the mean of each worker's values, in the order of the workers' first values, (W,)."""
    _, first, of, sizes = np.unique(workers, return_index=True, return_inverse=True, return_counts=True)
    return np.asarray((np.bincount(of, values) / sizes)[np.argsort(first)])


# The n at which the asymptotic sequence is narrowest; it must not depend on the data.
TIGHTEST = 100


@dataclass(frozen=True)
class Looks:
    """Confidence sequences over a stream of values, in the order of the source.

    Attributes:
        unit: `judgments` if each worker judged once, else `workers`; the stream then has the workers' means.
        n: length of the stream. metric: metric used as control variate; empty if there is none. fixed: the
        normal interval, which is only valid for one n that is fixed in advance. exact: the exact sequence,
        for values on a scale with ends; None without ends. plain: the asymptotic sequence. varied: the
        asymptotic sequence with the metric and a slope from earlier values; None without a metric.
    """

    unit: str
    n: int
    metric: str
    fixed: ConfidenceSequence
    exact: ConfidenceSequence | None
    plain: ConfidenceSequence
    varied: ConfidenceSequence | None


def looks(judged: Judged, ends: tuple[float, float] | None, metric: str) -> Looks | None:
    """Return the confidence sequences.

    None with fewer than FIRST_LOOK values, or if workers are unknown. None either if outputs were drawn by
    probabilities: a sequence needs values from one distribution, and what an output weighs depends on all
    others that were drawn.

    Args:
        judged: judgments of one system.
        ends: ends of the scale; None if it has none.
        metric: metric used as control variate, or several (`named_metrics`); empty for none.
    """
    names = named_metrics(metric, judged.metrics) if metric else ()
    known = judged.with_metrics(*names)
    if known.workers is None or known.probabilities is not None:
        return None
    several = len(np.unique(known.workers)) < len(known.values)
    values = stream(known.values, known.workers, several=several)
    if len(values) < FIRST_LOOK:
        return None
    alpha = 1 - LEVEL
    exact = None
    if ends is not None:
        low, high = ends
        exact = bounded((values - low) / (high - low), alpha).scaled(low, high)
    return Looks(
        unit="workers" if several else "judgments",
        n=len(values),
        metric=metric,
        fixed=_fixed(values),
        exact=exact,
        plain=asymptotic(values, alpha, TIGHTEST),
        varied=with_metrics(known, names, values) if metric else None,
    )


def with_metrics(known: Judged, names: tuple[str, ...], values: NDArray[np.float64]) -> ConfidenceSequence:
    """Return the asymptotic sequence with metrics as control variates, and slopes from earlier values.

    It is of the mean of this pool's outputs, which must be fixed before the first look.

    Args:
        known: judgments of one system whose outputs have the metrics, of known workers.
        names: the metrics.
        values: (n,), the stream of these judgments.
    """
    if known.workers is None:
        raise AssertionError("a sequence is of known workers")
    pool = np.column_stack([on_pool(known.metrics[name].to_numpy(np.float64)) for name in names])
    several = len(values) < len(known.values)
    g = [stream(each, known.workers, several=several) for each in pool[known.outputs].T]
    correlations = pool.T @ pool / len(pool) if len(names) > 1 else None
    residuals = predictable_residuals(values, np.column_stack(g), correlations)
    return asymptotic(residuals, 1 - LEVEL, TIGHTEST, values)


def stream(values: NDArray[np.float64], workers: NDArray[np.intp], *, several: bool) -> NDArray[np.float64]:
    """Return the values of a sequence: as they are, or the means of workers if they judged several times."""
    return worker_stream(values, workers) if several else values


def _fixed(values: NDArray[np.float64]) -> ConfidenceSequence:
    """Return the normal interval at each n, NaN below FIRST_LOOK."""
    n = np.arange(1, len(values) + 1)
    means = np.cumsum(values) / n
    moved = values - values[:1]
    squares = np.cumsum(moved**2) - np.cumsum(moved) ** 2 / n
    reach = np.full(len(values), np.nan)
    late = n >= FIRST_LOOK
    reach[late] = 1.959963984540054 * np.sqrt(np.maximum(squares[late], 0) / ((n[late] - 1) * n[late]))
    return ConfidenceSequence(means, reach)

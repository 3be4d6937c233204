"""The mean of a system, from all judgments of its outputs and a pool: with each interval that can be given.

Every rated output counts once, with its k judgments at 1/k each, so that a pool that is rated throughout
gives exactly the mean, whatever the metric. The error of μ̃ is the sum of what judgments contribute,
(y − α g − μ̃) / (m k) + α g / (N k) for m rated outputs of N, and of what the metrics of the unrated
outputs do, α g / N each. If outputs were independent that would come to s_e² / m + α² / N; here the judgments
of one worker, and those of one output, may hang together (`clustered_error`). This is the interval of record.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from qc.estimators.clustered_error import two_way_variance
from qc.estimators.control_variate import control_variate


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of an estimate: its ends, and the standard error behind it; NaN where there is none."""

    low: float
    high: float
    se: float

    @property
    def width(self) -> float:
        """How far apart the ends are."""
        return self.high - self.low


@dataclass(frozen=True, slots=True)
class PoolMean:
    """A mean, and its intervals.

    Attributes:
        estimate: of the mean of the system.
        normal: estimate ± z · se, as if outputs were all that varies.
        clustered: of record: judgments of one worker and of one output hang together; NaN if workers are
            unknown.
    """

    estimate: float
    normal: Interval
    clustered: Interval


def pool_means(
    values: NDArray[np.float64],
    outputs: NDArray[np.intp],
    workers: NDArray[np.intp] | None,
    pool: NDArray[np.float64],
    level: float,
) -> tuple[PoolMean, PoolMean]:
    """Return the mean without and with control variate.

    Args:
        values: (K,), judgments.
        outputs: (K,), rows of the pool that they are of; at least two different ones.
        workers: (K,), codes; None if unknown.
        pool: (N,), the metric of all outputs, standardised (`control_variate.on_pool`); all 0 for none.
        level: of the intervals, for example 0.95.
    """
    rated, of, k = np.unique(outputs, return_inverse=True, return_counts=True)
    means = np.bincount(of, values) / k
    by_output = control_variate(means, pool[rated], len(pool))
    weights = 1 / (len(rated) * k[of])
    g = pool[outputs]
    plain = weights * (values - by_output.mean)
    shared = g * len(rated) / len(pool)
    varied = weights * (values - by_output.estimate + by_output.alpha * (shared - g))
    unrated = np.ones(len(pool), bool)
    unrated[rated] = False
    added = (by_output.alpha / len(pool)) ** 2 * float((pool[unrated] ** 2).sum())
    return (
        PoolMean(
            by_output.mean,
            _normal(by_output.mean, by_output.se_mean, level),
            _clustered(by_output.mean, plain, outputs, workers, 0.0, level),
        ),
        PoolMean(
            by_output.estimate,
            _normal(by_output.estimate, by_output.se_estimate, level),
            _clustered(by_output.estimate, varied, outputs, workers, added, level),
        ),
    )


def _normal(estimate: float, se: float, level: float) -> Interval:
    reach = float(ndtri((1 + level) / 2)) * se
    return Interval(estimate - reach, estimate + reach, se)


def _clustered(
    estimate: float,
    contributions: NDArray[np.float64],
    outputs: NDArray[np.intp],
    workers: NDArray[np.intp] | None,
    added: float,
    level: float,
) -> Interval:
    """Return the interval with Student's t of W − 1 degrees of freedom, W workers."""
    count = 0 if workers is None else len(np.unique(workers))
    if workers is None or count < 2:
        return Interval(float("nan"), float("nan"), float("nan"))
    se = float(np.sqrt(two_way_variance(contributions, workers, outputs) + added))
    reach = float(stdtrit(count - 1, (1 + level) / 2)) * se
    return Interval(estimate - reach, estimate + reach, se)

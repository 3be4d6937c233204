"""Intervals that stay valid if you check them after every judgment."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.estimators.confidence_sequence import (
    FIRST_LOOK,
    ConfidenceSequence,
    asymptotic,
    bounded,
    worker_stream,
)
from qc.estimators.pool_mean import on_pool, predictable_residuals
from qc.judgments import Judged
from qc.statistics.confidence import LEVEL

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
    """Return the confidence sequences; None with fewer than FIRST_LOOK values, or if workers are unknown.

    Args:
        judged: judgments of one system.
        ends: ends of the scale; None if it has none.
        metric: metric used as control variate; empty for none.
    """
    known = judged.with_metric(metric) if metric else judged
    if known.workers is None:
        return None
    several = len(np.unique(known.workers)) < len(known.values)
    values = stream(known.values, known.workers, several=several)
    if len(values) < FIRST_LOOK:
        return None
    alpha = 1 - LEVEL
    varied = None
    if metric:
        g = on_pool(known.metrics[metric].to_numpy(np.float64))[known.outputs]
        residuals = predictable_residuals(values, stream(g, known.workers, several=several))
        varied = asymptotic(residuals, alpha, TIGHTEST)
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
        varied=varied,
    )


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

"""Compute the gain from adding one metric to the judgments of one part of the data."""

from dataclasses import dataclass

import numpy as np

from qc.estimators.efficiency import Efficiency, Estimated, NotEstimable, efficiency, in_pool, spread
from qc.estimators.pool_mean import Interval, PoolMean, on_pool, pool_means, resampled_means
from qc.estimators.standard_error import WorkerEffect, worker_effect
from qc.judgments import Judged
from qc.statistics.confidence import LEVEL
from qc.statistics.resampling import generator

FEWEST_OUTPUTS = 3


@dataclass(frozen=True)
class Mean:
    """A mean with its intervals at LEVEL: two by formula, two by resampling.

    Attributes:
        by_formula: the estimate, its normal interval, and the clustered one, which is the interval of record.
        outputs: interval from resampled outputs, each with its judgments.
        workers: interval from resampled workers, each with all their judgments; NaN if unknown.
    """

    by_formula: PoolMean
    outputs: Interval
    workers: Interval


@dataclass(frozen=True)
class Worth:
    """Value of a metric as control variate.

    Attributes:
        metric: its name; empty for no metric.
        rated: number of outputs with a judgment and the metric.
        pool: number of outputs with the metric.
        judgments: number of judgments of these outputs.
        plain, varied: the mean of these outputs without and with the metric.
        efficiency: data efficiency with an infinite pool, as if judgments were independent.
        de_pool: the same with this pool.
        de_record: (standard error of record without / with the metric)², with this pool.
        effect: with an infinite pool, clustered by worker; None with unknown workers, or fewer than two.
    """

    metric: str
    rated: int
    pool: int
    judgments: int
    plain: Mean
    varied: Mean
    efficiency: Efficiency
    de_pool: Estimated
    de_record: Estimated
    effect: WorkerEffect | None

    @property
    def de_cluster(self) -> Estimated:
        """Data efficiency with an infinite pool, clustered by worker."""
        if self.effect is None or not np.isfinite(self.effect.de_cluster):
            return NotEstimable("the workers are unknown, or fewer than two")
        return self.effect.de_cluster

    @property
    def strength(self) -> float:
        """|r| with single judgments; −1 if there is none."""
        r = self.efficiency.r_judgment
        return -1.0 if isinstance(r, NotEstimable) else abs(r)


def worth(judged: Judged, metric: str, draws: int, seed: int) -> Worth | None:
    """Return the gain from `metric`; None if too few judged outputs have it.

    Args:
        judged: the part of the data.
        metric: its name; empty for none, so that `varied` equals `plain`.
        draws: number of resamples.
        seed: seed of the resamples. Each part and metric draws the same units in the same order.
    """
    known = judged.with_metric(metric) if metric else judged
    rated = int((known.counts > 0).sum())
    if rated < FEWEST_OUTPUTS:
        return None
    pool = on_pool(known.metrics[metric].to_numpy(np.float64)) if metric else np.zeros(known.pool)
    g = pool[known.outputs]
    formula = pool_means(known.values, known.outputs, known.workers, pool, LEVEL)
    weights = 1 / known.counts[known.outputs]
    units = {"outputs": known.outputs, "workers": known.workers}
    nothing = Interval(float("nan"), float("nan"), float("nan"))
    drawn = {
        name: (nothing, nothing)
        if unit is None
        else resampled_means(
            known.values,
            g,
            weights,
            unit,
            pool[known.counts == 0],
            LEVEL,
            draws,
            generator(seed, f"means by {name}"),
        )
        for name, unit in units.items()
    }
    plain, varied = (Mean(formula[at], drawn["outputs"][at], drawn["workers"][at]) for at in (0, 1))
    if rated == known.pool:
        varied = plain  # all intervals: if the whole pool is rated, it adds no information
    found = efficiency(known.values, known.outputs, g, spread(known.values, known.outputs).unbiased)
    r = found.r_judgment
    return Worth(
        metric=metric,
        rated=rated,
        pool=known.pool,
        judgments=len(known.values),
        plain=plain,
        varied=varied,
        efficiency=found,
        de_pool=r if isinstance(r, NotEstimable) else in_pool(r, rated, known.pool),
        de_record=_record(plain.by_formula.clustered.se, varied.by_formula.clustered.se),
        effect=None if known.workers is None else worker_effect(known.values, g, known.workers),
    )


def _record(plain: float, varied: float) -> Estimated:
    if not (np.isfinite(plain) and varied > 0):
        return NotEstimable("there is no interval of record")
    return (plain / varied) ** 2

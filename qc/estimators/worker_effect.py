"""Effect of workers' habits on the precision of a mean, and on the gain from a metric.

All judgments count alike, and the pool is taken as endless. Independent standard errors are those of a mean
of unrelated judgments; clustered ones let the judgments of one worker hang together in any way. Source of the
warning: Chaganty, Mussmann and Liang, ACL 2018, footnote 2; on their data the effect is large.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.estimators.clustered_error import clustered_variance, independent_variance


@dataclass(frozen=True, slots=True)
class WorkerEffect:
    """Standard errors of the mean ȳ and of the control-variates mean μ̃, by two assumptions.

    Attributes:
        judgments, workers: how many.
        alpha: slope on the metric, from all judgments.
        mean, estimate: ȳ and μ̃.
        se_iid_mean, se_iid_cv: as if judgments were independent.
        de_iid: (se_iid_mean / se_iid_cv)².
        se_cluster_mean, se_cluster_cv: clustered by worker.
        de_cluster: (se_cluster_mean / se_cluster_cv)²; below 1 the metric does harm.
    """

    judgments: int
    workers: int
    alpha: float
    mean: float
    estimate: float
    se_iid_mean: float
    se_iid_cv: float
    de_iid: float
    se_cluster_mean: float
    se_cluster_cv: float
    de_cluster: float


def worker_effect(
    values: NDArray[np.float64], metric: NDArray[np.float64], workers: NDArray[np.intp]
) -> WorkerEffect:
    """Return the standard errors of ȳ and μ̃ by both assumptions; NaN with one worker.

    Args:
        values: (K,), judgments.
        metric: (K,), of the outputs that they are of, standardised on the pool.
        workers: (K,), codes.
    """
    mean = float(values.mean())
    alpha = float(((values - mean) * metric).mean())
    residuals = values - alpha * metric
    estimate = float(residuals.mean())
    of_mean, of_estimate = ((each - each.mean()) / len(each) for each in (values, residuals))
    iid_mean, iid_cv = independent_variance(of_mean), independent_variance(of_estimate)
    by_worker, by_worker_cv = (clustered_variance(each, workers) for each in (of_mean, of_estimate))
    return WorkerEffect(
        judgments=len(values),
        workers=len(np.unique(workers)),
        alpha=alpha,
        mean=mean,
        estimate=estimate,
        se_iid_mean=float(np.sqrt(iid_mean)),
        se_iid_cv=float(np.sqrt(iid_cv)),
        de_iid=_ratio(iid_mean, iid_cv),
        se_cluster_mean=float(np.sqrt(by_worker)),
        se_cluster_cv=float(np.sqrt(by_worker_cv)),
        de_cluster=_ratio(by_worker, by_worker_cv),
    )


def _ratio(before: float, after: float) -> float:
    return before / after if after > 0 else float("nan")

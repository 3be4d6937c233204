"""The mean of judgments with a metric as control variate.

Outputs whose metric is known tell where the rated ones stand among all: if the rated ones score above the
average of the pool by the metric, their mean is corrected downwards, by as much as judgments follow the
metric. With the metric g standardised on the pool, α̂ = (1/n) Σ (y − ȳ) g and μ̃ = (1/n) Σ (y − α̂ g).

Source: Chaganty, Mussmann and Liang, ACL 2018, section 3.2 and algorithm 1. That the pool is finite, with N
outputs, adds α̂² / N to the variance of μ̃; if all of them are rated, μ̃ = ȳ.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
        se_endless: that of μ̃ with an endless pool: sd of y − α̂ g, with n − 1, over √n.
        se_estimate: that of μ̃ with this pool.
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
        values: (n,), one of each rated output: a judgment, or the mean of several. At least two.
        metric: (n,), of these outputs, standardised on the pool (`on_pool`).
        pool: N, the number of outputs in the pool, the rated ones among them.
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
        # The metrics of a pool that is rated throughout add up to 0 but for rounding.
        estimate=mean if n == pool else float(residuals.mean()),
        se_mean=float(values.std(ddof=1) / np.sqrt(n)),
        se_endless=endless,
        se_estimate=float(np.sqrt(endless**2 + alpha**2 / pool)),
    )


def predictable_residuals(values: NDArray[np.float64], metric: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return y_i − α_(i−1) g_i, each with the α̂ of the values before it, 0 for the first two.

    No value has a part in its own correction, so their mean is exactly unbiased whatever the metric, and they
    can be looked at while they come in (`qc.estimators.confidence_sequence`).

    Args:
        values: (n,), in the order in which they came.
        metric: (n,), standardised on the pool.

    Returns:
        (n,).
    """
    count = np.arange(1, len(values) + 1)
    sums_y, sums_g, products = (np.cumsum(each) for each in (values, metric, values * metric))
    alphas = products / count - sums_y / count * sums_g / count
    before = np.concatenate([[0.0, 0.0], alphas[1:-1]])[: len(values)]
    return np.asarray(values - before * metric)

"""One metric from several: what people's judgments follow of all of them together.

The judgments are regressed on the metrics by least squares; the metric of an output is its fitted value,
without the constant. In an estimate the fit for a judged output leaves its own judgments out (leave-one-out
cross-fitting), so that the metric does not depend on them. Such a metric is used as it is, with the slope 1:
a slope fitted to it would find the outputs' own judgments again, by what was left out.

Sources: several control variates with coefficients by least squares: Lavenberg and Welch, *A perspective on
the use of control variables to increase the efficiency of Monte Carlo simulations*, Management Science 27,
1981; cross-fitting (the mean of predictions of the whole pool, plus the mean of y less the prediction by the
folds that lack it): Zrnic and Candès, *Cross-prediction-powered inference*, PNAS 121(15), 2024, here with one
output in a fold, so that no chance enters. The fit without a row, e / (1 - h): Cook and Weisberg, *Residuals
and influence in regression*, 1982, on the deletion of cases.
"""

from collections.abc import Container
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.estimators.pool_mean import on_pool

# Fewest judged outputs for each metric. With fewer, the noise of the slopes costs more than metrics save.
FEWEST_OUTPUTS_EACH = 10
# A row with more than this leverage determines its own fit, so it cannot be left out.
ALONE = 1 - 1e-9


# Between the names of metrics that are used together.
TOGETHER = "+"


def named_metrics(metric: str, known: Container[str]) -> tuple[str, ...]:
    """Return the metrics that `metric` names: the one of that name, or several, joined by TOGETHER."""
    return (metric,) if metric in known else tuple(name.strip() for name in metric.split(TOGETHER))


@dataclass(frozen=True, slots=True)
class JointMetric:
    """A joint metric of all N outputs, in the unit of the judgments.

    Attributes:
        fitted: (N,), fitted to all judgments; its mean over the pool is 0.
        left_out: (N,), the same, but that of a judged output is fitted without its own judgments.
    """

    fitted: NDArray[np.float64]
    left_out: NDArray[np.float64]


def joint_metric(
    means: NDArray[np.float64],
    rated: NDArray[np.intp],
    metrics: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
) -> JointMetric:
    """Return the joint metric of several.

    Args:
        means: (m,), mean judgment of each judged output.
        rated: (m,), rows of these outputs in the pool.
        metrics: (N, M), metrics of all outputs.
        weights: (m,), weights of the judged outputs; None if equal.
    """
    g = np.column_stack([on_pool(metric) for metric in metrics.T])
    root = np.ones(len(rated)) if weights is None else np.sqrt(weights)
    design = root[:, None] * np.column_stack([np.ones(len(rated)), g[rated]])
    inverse = np.linalg.pinv(design)
    slopes = inverse @ (root * means)
    residuals = root * means - design @ slopes
    leverage = np.einsum("ij,ji->i", design, inverse)
    moved = np.where(leverage < ALONE, residuals / np.maximum(1 - leverage, 1 - ALONE), 0.0)
    fitted = g @ slopes[1:]
    left_out = fitted.copy()
    left_out[rated] -= np.einsum("ij,ji->i", g[rated], inverse[1:] * moved)
    return JointMetric(fitted, left_out)

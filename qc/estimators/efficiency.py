"""By how many judgments a metric shortens the way to the same precision.

A mean of n single judgments has the variance (σ_f² + σ_a²) / n; with a metric as control variate that becomes
(σ_f² (1 − ρ²) + σ_a²) / n, ρ being the correlation of the metric with f(z). The ratio of the two is the data
efficiency (1 + γ) / (1 − ρ² + γ). Source: Chaganty, Mussmann and Liang, ACL 2018, sections 3.2 and 3.3.

Because ρ² / (1 + γ) is the square of r, the correlation of the metric with single judgments, the same number
is 1 / (1 − r²), for which one judgment of each output is enough. The sign of r does not matter.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.estimators.estimable import Estimated, NotEstimable, number
from qc.estimators.spread import Spread

_CONSTANT = NotEstimable("the metric is the same for all outputs")
_FLAT = NotEstimable("all judgments are the same")
_BEYOND = NotEstimable("the estimate of ρ is 1 or more, because σ_f² is small and uncertain")


@dataclass(frozen=True, slots=True)
class Efficiency:
    """What a metric is worth as control variate. Every output weighs 1, each of its k judgments 1/k.

    Attributes:
        alpha: slope of the judgments on the standardised metric, in the unit of the judgments.
        r_judgment: correlation of the metric with single judgments.
        r_output_mean: correlation with the outputs' means; smaller than ρ, since means hold noise.
        rho: correlation with f(z), from the unbiased σ_f².
        de: data efficiency 1 / (1 − r²): with an endless pool the same precision takes 1/de of them.
        de_from_rho: the same by (1 + γ) / (1 − ρ² + γ).
        noiseless: 1 / (1 − ρ²), what it would be if workers agreed perfectly.
    """

    alpha: Estimated
    r_judgment: Estimated
    r_output_mean: Estimated
    rho: Estimated
    de: Estimated
    de_from_rho: Estimated
    noiseless: Estimated


def efficiency(
    values: NDArray[np.float64], outputs: NDArray[np.intp], metric: NDArray[np.float64], spread: Spread
) -> Efficiency:
    """Return what a metric is worth.

    Args:
        values: (K,), judgments.
        outputs: (K,), codes of the outputs that they are of.
        metric: (K,), the metric of these outputs, standardised on the pool.
        spread: of the same judgments, unbiased.
    """
    weights, means, metric_of = _by_output(values, outputs, metric)
    deviations = values - means.mean()
    g = metric_of - metric_of.mean()
    spread_g, spread_y = float((g**2).mean()), float((weights * deviations**2).sum())
    if spread_g == 0 or spread_y == 0:
        why = _CONSTANT if spread_g == 0 else _FLAT
        return Efficiency(why, why, why, why, why, why, why)
    covariance = float((g * means).mean())
    r = covariance / np.sqrt(spread_g * spread_y)
    of_means = float(means.var())
    rho, de_from_rho, noiseless = _by_rho(covariance / np.sqrt(spread_g), spread)
    return Efficiency(
        alpha=covariance / spread_g,
        r_judgment=float(r),
        r_output_mean=covariance / float(np.sqrt(spread_g * of_means)) if of_means else _FLAT,
        rho=rho,
        de=float(1 / (1 - r**2)) if r**2 < 1 else NotEstimable("the metric and the judgments agree exactly"),
        de_from_rho=de_from_rho,
        noiseless=noiseless,
    )


def _by_output(
    values: NDArray[np.float64], outputs: NDArray[np.intp], metric: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the weight of each judgment, and of each output the mean judgment and the metric."""
    _, first, of, k = np.unique(outputs, return_index=True, return_inverse=True, return_counts=True)
    return 1 / (len(k) * k[of]), np.bincount(of, values) / k, metric[first]


def _by_rho(scaled: float, spread: Spread) -> tuple[Estimated, Estimated, Estimated]:
    """Return ρ, the efficiency by γ and ρ, and that without noise; `scaled` is the covariance / sd of g."""
    if isinstance(spread.gamma, NotEstimable):
        return spread.gamma, spread.gamma, spread.gamma
    rho = scaled / float(np.sqrt(number(spread.sigma_f2)))
    if rho**2 >= 1:
        return _BEYOND, _BEYOND, _BEYOND
    return rho, (1 + spread.gamma) / (1 - rho**2 + spread.gamma), 1 / (1 - rho**2)


def cap(spread: Spread) -> Estimated:
    """Return the data efficiency of a perfect metric, ρ = 1: (1 + γ) / γ."""
    if isinstance(spread.gamma, NotEstimable):
        return spread.gamma
    return (1 + spread.gamma) / spread.gamma if spread.gamma else NotEstimable("the workers agree perfectly")


def published_perfect_metric(values: NDArray[np.float64], outputs: NDArray[np.intp]) -> Estimated:
    """Return the upper bound as the paper computes it: the metric is the mean of the very same judgments.

    It contains part of the noise that it is to foretell; with two judgments of each output it comes out at
    about twice the `cap`. For comparison with section 5 of the paper only.
    """
    _, of, k = np.unique(outputs, return_inverse=True, return_counts=True)
    means = np.bincount(of, values) / k
    all_squares = float(((values - means.mean()) ** 2 / (len(k) * k[of])).sum())
    of_means = float(means.var())
    if of_means >= all_squares:
        return NotEstimable("judgments of the same output never differ")
    return 1 / (1 - of_means / all_squares)


def in_pool(r: float, rated: int, pool: int) -> float:
    """Return the data efficiency of a metric whose pool has `pool` outputs, `rated` of them judged.

    1 / (1 − r² (1 − n/N)): 1 if every output was judged, as then the pool tells nothing that they do not.
    """
    return float(1 / (1 - r**2 * (1 - rated / pool)))

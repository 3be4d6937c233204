"""How well a metric's scores of systems agree with people's, and how sure that is with so few systems.

Sources: Ji, PhD thesis, sections 3.4.4, 4.4.6 and 5.4.7 (correlations with human scores); Kocmi et al., *To
Ship or Not to Ship*, WMT 2021, section 3 (pairwise accuracy). Intervals: Fisher, *On the "Probable Error" of
a Coefficient of Correlation*, 1921, for r; Fieller, Hartley and Pearson, *Tests for Rank Correlation
Coefficients*, Biometrika 1957, for ρ and τ.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from qc.statistics.confidence import LEVEL
from qc.statistics.correlation import kendall, pearson, spearman
from qc.statistics.noise import without_noise

# Variance of the inverse hyperbolic tangent of a coefficient: numerator, and what is taken off n.
_VARIANCE = {"pearson": (1.0, 3), "spearman": (1.06, 3), "kendall": (0.437, 4)}


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A correlation and its interval for other systems like these; bounds are NaN with too few systems."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class MetricAgreement:
    """How scores of systems by a metric agree with those by people.

    Attributes:
        n: number of systems with both scores.
        pearson, spearman, kendall: r, ρ and τ_b; NaN with fewer than 3 systems, or if a score does not vary.
        pairwise_accuracy: share of pairs of systems that the metric orders as people do; pairs that people
            have tied are left out, a tie of the metric counts half. NaN without such a pair.
        pairs: number of these pairs.
    """

    n: int
    pearson: Coefficient
    spearman: Coefficient
    kendall: Coefficient
    pairwise_accuracy: float
    pairs: int


def agree(human: NDArray[np.float64], metric: NDArray[np.float64]) -> MetricAgreement:
    """Return how `metric` agrees with `human`.

    Args:
        human: (S,), score of each system, higher is better; a system with NaN on either side takes no part.
        metric: (S,), the same by the metric.
    """
    there = np.isfinite(human) & np.isfinite(metric)
    people, scores = human[there], metric[there]
    n = len(people)
    accuracy, pairs = pairwise_accuracy(people, scores)
    return MetricAgreement(
        n,
        _coefficient("pearson", pearson(scores, people), n),
        _coefficient("spearman", spearman(scores, people), n),
        _coefficient("kendall", kendall(scores, people), n),
        accuracy,
        pairs,
    )


def pairwise_accuracy(human: NDArray[np.float64], metric: NDArray[np.float64]) -> tuple[float, int]:
    """Return the share of pairs that `metric`, (S,), orders as `human`, (S,), does, and of how many pairs.

    Pairs that people have tied are left out; a tie of the metric counts half.
    """
    upper = np.triu_indices(len(human), 1)
    people, scores = (
        np.sign(values[:, None] - values[None, :])[upper]
        for values in (without_noise(human), without_noise(metric))
    )
    apart = people != 0
    right = np.where(scores == 0, 0.5, people == scores)[apart]
    return (float(right.mean()) if len(right) else float("nan")), len(right)


def atanh_interval(coefficient: str, value: float, n: int) -> tuple[float, float]:
    """Return the bounds tanh(artanh(value) ± z · se) of LEVEL; NaN where there are none.

    Args:
        coefficient: `pearson` (se² = 1/(n − 3)), `spearman` (1.06/(n − 3)) or `kendall` (0.437/(n − 4)).
        value: of the coefficient; of −1 and 1 there is no interval.
        n: number of points.
    """
    numerator, taken = _VARIANCE[coefficient]
    if n <= taken or not abs(value) < 1:
        return float("nan"), float("nan")
    reach = ndtri((1 + LEVEL) / 2) * np.sqrt(numerator / (n - taken))
    low, high = np.tanh(np.arctanh(value) + np.array([-reach, reach]))
    return float(low), float(high)


def _coefficient(name: str, value: float, n: int) -> Coefficient:
    return Coefficient(value, *atanh_interval(name, value, n))

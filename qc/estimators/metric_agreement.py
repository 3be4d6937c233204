"""Correlate a metric's system scores with people's, with an interval for few systems.

Sources: Ji, PhD thesis, sections 3.4.4, 4.4.6 and 5.4.7 (correlations with human scores); Kocmi et al., *To
Ship or Not to Ship*, WMT 2021, section 3 (pairwise accuracy). Intervals: `qc.statistics.correlation`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.statistics.confidence import LEVEL
from qc.statistics.correlation import (
    LARGEST_R,
    CorrelationInterval,
    interval_of_r,
    interval_of_rank_correlation,
    kendall,
    pearson,
    spearman,
)
from qc.statistics.noise import without_noise


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A correlation and its interval for other systems like these.

    Bounds are NaN with fewer than 4 systems, or where r is −1 or 1.
    """

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
    accuracy, pairs = pairwise_accuracy(people, scores)
    return MetricAgreement(len(people), *_coefficients(people, scores), accuracy, pairs)


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


def _coefficients(
    human: NDArray[np.float64], metric: NDArray[np.float64]
) -> tuple[Coefficient, Coefficient, Coefficient]:
    """Return r, ρ and τ; the intervals of ρ and τ are that of r in their terms. Of r = ±1 there is none."""
    r = pearson(metric, human)
    unknown = CorrelationInterval(float("nan"), float("nan"))
    of_r = interval_of_r(r, len(human), LEVEL) if abs(r) < LARGEST_R else unknown
    rho, tau = spearman(metric, human), kendall(metric, human)
    of_rho = interval_of_rank_correlation("spearman", rho, of_r)
    of_tau = interval_of_rank_correlation("kendall", tau, of_r)
    return (
        Coefficient(r, of_r.low, of_r.high),
        Coefficient(rho, of_rho.low, of_rho.high),
        Coefficient(tau, of_tau.low, of_tau.high),
    )

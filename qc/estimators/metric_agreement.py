"""Correlate a metric's system scores with people's, and test two metrics against each other.

Sources: Ji, PhD thesis, sections 3.4.4, 4.4.6 and 5.4.7 (correlations with human scores); Kocmi et al., *To
Ship or Not to Ship*, WMT 2021, section 3 (pairwise accuracy); Thompson et al., *Improving Statistical
Significance in Human Evaluation of Automatic Metrics via Soft Pairwise Accuracy*, WMT 2024 (arXiv
2409.09598). Intervals: `qc.statistics.correlation`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from qc.statistics.confidence import LEVEL, without_noise
from qc.statistics.correlation import (
    LARGEST_R,
    CorrelationInterval,
    interval_of_r,
    interval_of_rank_correlation,
    kendall,
    pearson,
    spearman,
)


# Source: Ji, PhD thesis, section 5.4.7: for its open-domain dialogues, every word-overlap metric drops the
# system that people like best if half of the systems are kept.
@dataclass(frozen=True, slots=True)
class Prefilter:
    """Result of keeping only the best systems by a metric before people judge.

    Attributes:
        keep: number of systems to keep.
        kept: (S,), whether a system is kept: no worse than the `keep`-th best, so ties at the cut stay.
        best_kept: whether a system that people like best is kept.
        top_kept: how many of people's best `keep` systems are kept; of people's ties at the cut, the first
            ones count.
        regret: people's highest score minus their highest score among the kept; 0 if the best is kept.
    """

    keep: int
    kept: NDArray[np.bool_]
    best_kept: bool
    top_kept: int
    regret: float


def prefilter(human: NDArray[np.float64], metric: NDArray[np.float64], keep: int) -> Prefilter:
    """Return the loss from keeping only the best `keep` systems by `metric`.

    Args:
        human: (S,), people's scores, higher is better; without NaN.
        metric: (S,), the metric's scores, higher is better; without NaN.
        keep: 1 to S.
    """
    people, scores = without_noise(human), without_noise(metric)
    kept = scores >= np.sort(scores)[-keep]
    best = np.argsort(-people, kind="stable")[:keep]
    regret = float(people.max() - people[kept].max())
    return Prefilter(keep, kept, regret == 0, int(kept[best].sum()), regret)


def half(systems: int) -> int:
    """Return the default number of systems to keep: half of them, rounded up."""
    return (systems + 1) // 2


# Source: Williams, *Regression Analysis*, 1959, p. 83 f., in the form that Graham and Baldwin give, *Testing
# for Significance of Increased Correlation with Human Judgment*, EMNLP 2014, section 4. The two correlations
# share the people's scores, so they are not independent. The more similar the two metrics are, the smaller
# the difference that can be detected.
FEWEST_SYSTEMS = 4

SystemScores = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Williams:
    """A comparison of two metrics.

    Attributes:
        better, worse: the metrics, the one with the larger |r| first.
        r_better, r_worse: Pearson's r of each with people, its sign kept.
        r_between: Pearson's r of the two metrics, their signs kept.
        n: number of systems that both metrics, and people, scored.
        t: the statistic, with n − 3 degrees of freedom.
        p: two-sided, for |r_better| ≠ |r_worse|. The data decide which one is called better, so a one-sided p
            in that direction would be below a level twice as often as it should. NaN with fewer than 4
            systems, if a metric does not vary, or if one metric is a linear function of the other.
        p_one_sided: for |r_better| > |r_worse|, as published tables give it: half of p.
        turned: whether |r| of a negative correlation was compared.
    """

    better: str
    worse: str
    r_better: float
    r_worse: float
    r_between: float
    n: int
    t: float
    p: float
    turned: bool

    @property
    def p_one_sided(self) -> float:
        """The p-value for |r_better| > |r_worse|."""
        return self.p / 2


def compare_metrics(
    human: Mapping[str, float],
    first: tuple[str, Mapping[str, float]],
    second: tuple[str, Mapping[str, float]],
) -> Williams:
    """Compare two metrics by how strongly they correlate with people's scores.

    Only systems that both metrics and people scored count. The sign of a metric with a negative correlation
    is reversed first, so absolute values are compared.

    Args:
        human: score of each system.
        first: name of a metric, and its score of each system.
        second: the same of another metric.
    """
    order = sorted(human.keys() & first[1].keys() & second[1].keys())
    people, x, y = (_column(scores, order) for scores in (human, first[1], second[1]))
    pairs = [(first[0], x, pearson(x, people)), (second[0], y, pearson(y, people))]
    # Sort NaN last, so that a metric without a correlation is never the better one.
    (better, a, r_a), (worse, b, r_b) = sorted(
        pairs, key=lambda pair: -abs(pair[2]) if np.isfinite(pair[2]) else 1
    )
    between = pearson(a, b)
    same_side = r_a * r_b >= 0
    t = williams_t(abs(r_a), abs(r_b), between if same_side else -between, len(order))
    p = float(2 * stdtr(len(order) - 3, -abs(t))) if np.isfinite(t) else float("nan")
    return Williams(better, worse, r_a, r_b, between, len(order), t, p, turned=min(r_a, r_b) < 0)


def williams_t(r12: float, r13: float, r23: float, n: int) -> float:
    """Return t for r12 > r13, with n − 3 degrees of freedom.

    Args:
        r12, r13: correlation of each metric with people.
        r23: correlation of the two metrics.
        n: number of systems.

    Returns:
        NaN with fewer than 4 systems, if a correlation is NaN, or if r23 is 1.
    """
    if n < FEWEST_SYSTEMS or not np.isfinite([r12, r13, r23]).all() or r23 >= 1:
        return float("nan")
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    spread = 2 * k * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3
    # `spread` can be below 0 only by rounding: a correlation matrix has no negative determinant.
    return float((r12 - r13) * np.sqrt((n - 1) * (1 + r23) / spread)) if spread > 0 else float("nan")


def _column(scores: SystemScores, order: Sequence[str]) -> NDArray[np.float64]:
    return np.array([scores[system] for system in order], np.float64)


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A correlation and its interval, over the population of similar systems.

    Bounds are NaN with fewer than 4 systems, or if r is −1 or 1.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class MetricAgreement:
    """Agreement between system scores by a metric and by people.

    Attributes:
        n: number of systems with both scores.
        pearson, spearman, kendall: r, ρ and τ_b; NaN with fewer than 3 systems, or if a score does not vary.
        pairwise_accuracy: share of pairs of systems that the metric orders as people do. Pairs that are tied
            by people are left out; a tie of the metric counts half. NaN without such a pair.
        pairs: number of these pairs.
    """

    n: int
    pearson: Coefficient
    spearman: Coefficient
    kendall: Coefficient
    pairwise_accuracy: float
    pairs: int


def agree(human: NDArray[np.float64], metric: NDArray[np.float64]) -> MetricAgreement:
    """Return the agreement of `metric` with `human`.

    Args:
        human: (S,), score of each system, higher is better; a system with NaN on either side is left out.
        metric: (S,), the same by the metric.
    """
    there = np.isfinite(human) & np.isfinite(metric)
    people, scores = human[there], metric[there]
    accuracy, pairs = pairwise_accuracy(people, scores)
    return MetricAgreement(len(people), *_coefficients(people, scores), accuracy, pairs)


def pairwise_accuracy(human: NDArray[np.float64], metric: NDArray[np.float64]) -> tuple[float, int]:
    """Return the share of pairs that `metric`, (S,), orders as `human`, (S,), does, and the number of pairs.

    Pairs that are tied by people are left out; a tie of the metric counts half.
    """
    upper = np.triu_indices(len(human), 1)
    people, scores = (
        np.sign(values[:, None] - values[None, :])[upper]
        for values in (without_noise(human), without_noise(metric))
    )
    apart = people != 0
    right = np.where(scores == 0, 0.5, people == scores)[apart]
    return (float(right.mean()) if len(right) else float("nan")), len(right)


def soft_pairwise_accuracy(human: NDArray[np.float64], metric: NDArray[np.float64]) -> tuple[float, int]:
    """Return the mean of 1 − |p of people − p of the metric| over the pairs of systems, and their number.

    It is 1 if the metric is as sure of each pair as people are, and 0 if both are sure of the opposite.
    Source: Thompson et al., WMT 2024, the definition of SPA.

    Args:
        human: (S, S), one-sided p-value that the row's system is better than the column's, by people; pairs
            with NaN on either side are left out.
        metric: (S, S), the same by the metric.
    """
    upper = np.triu_indices(len(human), 1)
    apart = np.abs(human - metric)[upper]
    known = np.isfinite(apart)
    return (float(1 - apart[known].mean()) if known.any() else float("nan")), int(known.sum())


def _coefficients(
    human: NDArray[np.float64], metric: NDArray[np.float64]
) -> tuple[Coefficient, Coefficient, Coefficient]:
    """Return r, ρ and τ; the intervals of ρ and τ are converted from r's. r = ±1 has no interval."""
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

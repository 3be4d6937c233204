"""Williams' test: does one metric agree better with people than another, over the same systems?

Source: Williams, *Regression Analysis*, 1959, p. 83 f., in the form that Graham and Baldwin give, *Testing
for Significance of Increased Correlation with Human Judgment*, EMNLP 2014, section 4. The two correlations
share the people's scores, so they are not independent, and the more alike the two metrics are, the smaller a
difference between them can be told.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from qc.errors import ComparisonError, joined
from qc.statistics.correlation import pearson

FEWEST_SYSTEMS = 4

SystemScores = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Williams:
    """A comparison of two metrics.

    Attributes:
        better, worse: the metrics, the one with the larger |r| first.
        r_better, r_worse: Pearson's r of each with people, its sign kept.
        r_between: Pearson's r of the two metrics, their signs kept.
        n: number of systems.
        t: the statistic, with n − 3 degrees of freedom.
        p: two-sided, for |r_better| ≠ |r_worse|: the scores themselves say which one is called better, so a
            one-sided p in that direction would lie below a level twice as often as it should. NaN with fewer
            than 4 systems, where a metric does not vary, and where the two metrics order and space the
            systems alike.
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


def compare_metrics(
    human: Mapping[str, float],
    first: tuple[str, Mapping[str, float]],
    second: tuple[str, Mapping[str, float]],
) -> Williams:
    """Compare two metrics by how strongly they correlate with people's scores.

    A metric with a negative correlation is turned around first, so that absolute values are compared.

    Args:
        human: score of each system.
        first: name of a metric, and its score of each system.
        second: the same of another metric.

    Raises:
        ComparisonError: the two metrics, or the people, scored different systems.
    """
    _require_same_systems(human, (first, second))
    order = sorted(human)
    people, x, y = (_column(scores, order) for scores in (human, first[1], second[1]))
    pairs = [(first[0], x, pearson(x, people)), (second[0], y, pearson(y, people))]
    # NaN is less than nothing: a metric without a correlation is never the better one.
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
        NaN with fewer than 4 systems, without one of the correlations, and where r23 is 1.
    """
    if n < FEWEST_SYSTEMS or not np.isfinite([r12, r13, r23]).all() or r23 >= 1:
        return float("nan")
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    spread = 2 * k * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3
    # Below 0 by rounding only: a matrix of correlations has no negative determinant.
    return float((r12 - r13) * np.sqrt((n - 1) * (1 + r23) / spread)) if spread > 0 else float("nan")


def _require_same_systems(human: SystemScores, metrics: Sequence[tuple[str, SystemScores]]) -> None:
    for name, scores in metrics:
        apart = sorted(human.keys() ^ scores.keys())
        if apart:
            raise ComparisonError(
                f"{name} and the people did not score the same systems; only one of them has "
                f"{joined(apart)}. A correlation over other systems is another number. Leave these systems "
                "out on both sides, or score them."
            )


def _column(scores: SystemScores, order: Sequence[str]) -> NDArray[np.float64]:
    return np.array([scores[system] for system in order], np.float64)

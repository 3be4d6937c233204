"""Agreement of metrics with people over conversations: r, soft pairwise accuracy, and a smooth curve."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from qc.estimators.metric_agreement import Coefficient, soft_pairwise_accuracy
from qc.method.sample import Sample
from qc.metrics.metric_table import MetricScores, mean_by_system
from qc.statistics.clustered_means import interval_of_correlation, p_of_order
from qc.statistics.confidence import NOISE
from qc.statistics.lowess import FEWEST_POINTS, Curve, lowess
from qc.statistics.resampling import generator, unit_sums

FEWEST_VALUES = 3


@dataclass(frozen=True)
class ConversationAgreement:
    """Agreement of one metric with the workers' overall z, over conversations.

    Attributes:
        metric: its name.
        n: number of conversations with both.
        r: over all of them, including differences between systems.
        within: over deviations from the means of the systems, so only differences within systems count.
        soft_accuracy: soft pairwise accuracy over the systems, with p-values by workers; NaN if no pair of
            systems has one.
        soft_pairs: number of its pairs.
        x, y: (n,), the metric's scores as given, and overall z.
        curve: LOWESS of y on x; None with fewer than FEWEST_POINTS conversations, or if x does not vary.

    The two correlations have intervals for other workers, with all their conversations
    (`interval_of_correlation`). The ends are NaN with fewer than FEWEST_WORKERS workers, or if a few of many
    have most of the conversations.
    """

    metric: str
    n: int
    r: Coefficient
    within: Coefficient
    soft_accuracy: float
    soft_pairs: int
    x: NDArray[np.float64] = field(compare=False)
    y: NDArray[np.float64] = field(compare=False)
    curve: Curve | None = field(compare=False)


def by_conversation(
    sample: Sample, metrics: Sequence[MetricScores], bootstrap: int, seed: int
) -> list[ConversationAgreement]:
    """Return the agreement of each metric that scores conversations."""
    overall = sample.overall["z"]
    human = _p_of_systems(sample, overall, sample.counted & np.isfinite(overall), bootstrap, seed, "people")
    found = []
    for metric in metrics:
        if metric.conversations is None:
            continue
        there = sample.counted & np.isfinite(metric.conversations) & np.isfinite(overall)
        sign = 1 if metric.higher_is_better else -1
        x, y = metric.conversations[there], overall[there]
        systems, workers = sample.systems[there], sample.workers[there]
        # A separate generator for each metric, so that other metrics do not change its interval.
        rng = generator(seed, f"signs of workers, conversations, {metric.name}")
        inside = [values - _group_mean(values, systems) for values in (sign * x, y)]
        theirs = _p_of_systems(sample, sign * metric.conversations, there, bootstrap, seed, metric.name)
        found.append(
            ConversationAgreement(
                metric.name,
                len(x),
                _clustered_r(sign * x, y, workers, bootstrap, rng),
                _clustered_r(inside[0], inside[1], workers, bootstrap, rng),
                *soft_pairwise_accuracy(human, theirs),
                x,
                y,
                lowess(x, y) if len(x) >= FEWEST_POINTS and np.ptp(x) > NOISE else None,
            )
        )
    return found


def _p_of_systems(
    sample: Sample, values: NDArray[np.float64], there: NDArray[np.bool_], draws: int, seed: int, name: str
) -> NDArray[np.float64]:
    """Return the one-sided p-values of the pairs of systems, (systems of the run, the same)."""
    rng = generator(seed, f"signs of workers, pairs of systems, {name}")
    count = len(sample.run.systems)
    return p_of_order(values[there], sample.workers[there], sample.systems[there], count, draws, rng)


def _group_mean(values: NDArray[np.float64], groups: NDArray[np.intp]) -> NDArray[np.float64]:
    every = np.ones(len(values), bool)
    count = int(groups.max(initial=-1)) + 1
    return np.asarray(mean_by_system(values, groups, count, every)[groups])


def _clustered_r(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    workers: NDArray[np.intp],
    bootstrap: int,
    rng: np.random.Generator,
) -> Coefficient:
    """Return r of the points (x, y), and its interval for other workers with all their points."""
    if len(x) < FEWEST_VALUES or min(x.std(), y.std()) <= NOISE:
        return Coefficient(np.nan, np.nan, np.nan)
    x, y = ((values - values.mean()) / values.std() for values in (x, y))
    names, owners = np.unique(workers, return_inverse=True)
    products = unit_sums(
        np.column_stack([x * x, y * y, x * y]), owners, np.zeros(len(x), np.intp), (len(names), 1)
    )
    return Coefficient(*interval_of_correlation(products[:, 0], bootstrap, rng))

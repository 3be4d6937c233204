"""Split a metric's errors into their sources, and express its worth in judgments."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.errors import EmptyRunError
from qc.estimators.pairs import Decomposition, Labels, decompose, judgments_worth, labels_of, normal_labels
from qc.estimators.standard_error import SystemMeans, system_means
from qc.planning.comparison import PairedComparison
from qc.statistics.correlation import pearson
from qc.statistics.resampling import generator

# Judgments drawn at a time.
BLOCK_CELLS = 2**22


def resampled_means(
    values: NDArray[np.float64], systems: NDArray[np.intp], count: int, draws: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the mean of each system in each resample, (draws, S).

    Judgments are drawn with replacement, as many as each system has. They are drawn one by one, not together
    with others of the same output or worker.

    Args:
        values: (rows,), in a fixed order.
        systems: (rows,), codes from 0; each of the systems occurs.
        count: S, the number of systems.
        draws: number of resamples.
        rng: source of the draws.
    """
    means = np.empty((draws, count))
    for system in range(count):
        own = values[systems == system]
        size = max(1, BLOCK_CELLS // len(own))
        for start in range(0, draws, size):
            rows = min(size, draws - start)
            drawn = own[rng.integers(len(own), size=(rows, len(own)))]
            means[start : start + rows, system] = drawn.mean(axis=1)
    return means


# As published: people's judgments and the metric's values are drawn independently.
BOOTSTRAP = "judgments, bootstrap (published)"


@dataclass(frozen=True)
class MetricError:
    """Errors and worth of one metric.

    Attributes:
        metric: its name.
        r: its correlation with single judgments within systems; NaN if one of the two does not vary.
        errors: parts of its error, by the unit in which people's judgments are drawn.
        worth: number of judgments of each system with which people err as often as the metric is biased.
    """

    metric: str
    r: float
    errors: dict[str, Decomposition]
    worth: float


@dataclass(frozen=True)
class PublishedLabels:
    """People's labels from the published bootstrap.

    Attributes:
        labels: labels over `draws` resamples.
        draws: number of resamples.
        seed: seed of the draws.
    """

    labels: Labels
    draws: int
    seed: int


def published_labels(comparison: PairedComparison, draws: int, seed: int) -> PublishedLabels:
    """Return people's labels when judgments are drawn independently."""
    opinion = comparison.opinion
    means = resampled_means(
        opinion.values, opinion.system_codes, len(opinion.systems), draws, generator(seed, "people's labels")
    )
    return PublishedLabels(labels_of(means, comparison.means.pairs), draws, seed)


def metric_error(comparison: PairedComparison, metric: str, published: PublishedLabels) -> MetricError:
    """Return the errors and the worth of a metric; all outputs of the pool with a score count, judged or not.

    Raises:
        EmptyRunError: a system has no output with a score.
    """
    opinion = comparison.opinion
    scores = opinion.metrics[metric].to_numpy(np.float64)
    at, systems = np.nonzero(opinion.pool & np.isfinite(scores)[:, None])
    missing = sorted(set(range(len(opinion.systems))) - set(systems.tolist()))
    if missing:
        names = ", ".join(opinion.systems[i] for i in missing)
        raise EmptyRunError(f"{metric}: no output of {names} has a value of it. Add values, or leave it out.")
    means = system_means(scores[at], systems, len(opinion.systems))
    labels = normal_labels(means.differences, means.difference_errors)
    errors = {unit: decompose(people, labels) for unit, people in comparison.labels.items()}
    rng = generator(published.seed, f"labels of {metric}")
    drawn = resampled_means(scores[at], systems, len(opinion.systems), published.draws, rng)
    errors[BOOTSTRAP] = decompose(published.labels, labels_of(drawn, comparison.means.pairs))
    bias = float(next(iter(errors.values())).bias.mean())
    worth = judgments_worth(bias, comparison.means.differences, comparison.variances)
    return MetricError(metric, _within_systems(comparison, scores, means), errors, worth)


def _within_systems(comparison: PairedComparison, scores: NDArray[np.float64], means: SystemMeans) -> float:
    opinion = comparison.opinion
    g = scores[opinion.outputs] - means.mean[opinion.system_codes]
    return pearson(opinion.values - comparison.means.mean[opinion.system_codes], g)

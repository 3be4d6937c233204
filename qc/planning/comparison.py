"""Measure how well people, and a metric beside them, distinguish systems."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from qc.errors import EmptyRunError
from qc.estimators.pairs import Decomposition, Labels, decompose, judgments_worth, labels_of, normal_labels
from qc.estimators.standard_error import (
    PerfectAnnotator,
    SystemMeans,
    UnitShares,
    annotator_within_systems,
    effects_on_differences,
    effects_on_means,
    perfect_annotator,
    pooled_effect,
    published_annotator,
    system_means,
    unit_shares,
)
from qc.planning.opinion import SystemOpinion
from qc.statistics.correlation import pearson
from qc.statistics.resampling import generator

# Units that are drawn when the test set is resampled.
JUDGMENTS, OUTPUTS, WORKERS = "judgments", "outputs", "workers"


@dataclass(frozen=True)
class PairedComparison:
    """People's judgments of S systems, and of all P pairs of them, in the order of `np.triu_indices`.

    Attributes:
        opinion: the judgments.
        means: means of the systems.
        by_output: each output's contribution to the errors of the means.
        by_worker: each worker's contribution; None if workers are unknown, or only one worker judged a pair.
    """

    opinion: SystemOpinion
    means: SystemMeans
    by_output: UnitShares
    by_worker: UnitShares | None

    @cached_property
    def errors(self) -> dict[str, NDArray[np.float64]]:
        """Standard errors of the differences, (P,), by the unit drawn."""
        found = {
            JUDGMENTS: self.means.difference_errors,
            OUTPUTS: self.by_output.plain_difference_errors(self.means.pairs),
        }
        if self.by_worker is not None:
            found[WORKERS] = self.by_worker.difference_errors(self.means.pairs)
        return found

    @cached_property
    def labels(self) -> dict[str, Labels]:
        """People's labels of each pair, by the unit drawn."""
        return {unit: normal_labels(self.means.differences, errors) for unit, errors in self.errors.items()}

    @property
    def unit_of_record(self) -> str:
        """Outputs or workers, whichever gives the larger label noise."""
        sure = {unit: float(found.wavers.mean()) for unit, found in self.labels.items()}
        return max((unit for unit in (OUTPUTS, WORKERS) if unit in sure), key=lambda unit: sure[unit])

    @property
    def variances(self) -> NDArray[np.float64]:
        """Variance of a judgment of the first system plus that of the second, (P,)."""
        first, second = self.means.pairs
        return np.asarray(self.means.variance[first] + self.means.variance[second])

    @property
    def sd(self) -> float:
        """Standard deviation of a judgment of one system, pooled over systems."""
        squares = float((self.means.variance * self.means.count).sum())
        return float(np.sqrt(squares / (self.means.count.sum() - len(self.means.count))))

    @property
    def annotators(self) -> dict[str, PerfectAnnotator]:
        """Variances for a perfect annotator: as published, corrected, and within a system."""
        opinion = self.opinion
        return {
            "all outputs, divisor k (published)": published_annotator(opinion.values, opinion.outputs),
            "all outputs, divisor k − 1": perfect_annotator(opinion.values, opinion.outputs),
            "within a system, divisor k − 1": self.annotator,
        }

    @property
    def annotator(self) -> PerfectAnnotator:
        """Variances for a perfect annotator, within a system."""
        opinion = self.opinion
        return annotator_within_systems(opinion.values, opinion.outputs, opinion.system_codes)

    @property
    def output_effect(self) -> float:
        """Design effect of judging each output as often as here, pooled over pairs."""
        return float((self.errors[OUTPUTS] ** 2).sum() / (self.errors[JUDGMENTS] ** 2).sum())

    @property
    def worker_effect(self) -> float:
        """Design effect of letting each worker judge as much as here, pooled over pairs; NaN if unknown."""
        return np.nan if self.by_worker is None else pooled_effect(self.means, self.by_worker)

    def workers_for(self, judgments: int) -> float:
        """Return the number of workers for `judgments` judgments of every system, at the same rate as here.

        Args:
            judgments: number of judgments of each system.

        Returns:
            A whole number; NaN if workers are unknown.
        """
        if self.opinion.workers is None:
            return np.nan
        each = len(self.opinion.values) / (self.opinion.workers.max() + 1)
        return float(np.ceil(judgments * len(self.opinion.systems) / each))

    @property
    def mean_effects(self) -> NDArray[np.float64]:
        """Design effect of workers on the mean of each system, (S,); NaN if unknown."""
        if self.by_worker is None:
            return np.full(len(self.means.mean), np.nan)
        return effects_on_means(self.means, self.by_worker)

    @property
    def difference_effects(self) -> NDArray[np.float64]:
        """Design effect of workers on the difference of each pair, (P,); NaN if unknown."""
        if self.by_worker is None:
            return np.full(len(self.means.differences), np.nan)
        return effects_on_differences(self.means, self.by_worker)


def compare(opinion: SystemOpinion) -> PairedComparison:
    """Compare every pair of systems by people's judgments."""
    values, systems, count = opinion.values, opinion.system_codes, len(opinion.systems)
    means = system_means(values, systems, count)
    by_output = unit_shares(values, systems, opinion.outputs, count)
    by_worker = None
    if opinion.workers is not None:
        shares = unit_shares(values, systems, opinion.workers, count)
        by_worker = shares if np.isfinite(shares.difference_errors(means.pairs)).all() else None
    return PairedComparison(opinion, means, by_output, by_worker)


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

"""Measure how well people, and a metric beside them, distinguish systems, and where the metric breaks even.

In each resample of the test set, people call one system of a pair better, and so does the metric. The label
that each gives most often is its settled label. N is how often people's label differs from their settled
label (label noise). V is the same for the metric (variance). The bias is 1 if the two settled labels differ,
else 0. If the labels of people and metric are independent, the metric's error (how often it contradicts
people) is exactly

    error = c0 N + bias + c1 V,   c0 = 2 P(metric's label = people's settled one) − 1,   c1 = 1 − 2 bias.

Source: Wei and Jia, ACL 2021, sections 4 and 5. The columns of their table 1 come from notebooks that pass
the two sets of labels in the wrong order: the printed c0 · noise is the metric's variance part, and the
printed c1 · var is the label noise.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from qc.errors import EmptyRunError
from qc.estimators.standard_error import (
    Pairs,
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


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels of P pairs by one way of scoring.

    Attributes:
        first_better: (P,), the settled label: whether the first system is better; False for a tie.
        wavers: (P,), how often a resample gives the other label.
    """

    first_better: NDArray[np.bool_]
    wavers: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Decomposition:
    """Parts of the error of a metric, pair by pair, each (P,).

    Attributes:
        noise: N.
        variance: V.
        bias: 1 if the settled labels differ, else 0.
        noise_part: c0 N.
        variance_part: c1 V.
    """

    noise: NDArray[np.float64]
    variance: NDArray[np.float64]
    bias: NDArray[np.float64]
    noise_part: NDArray[np.float64]
    variance_part: NDArray[np.float64]

    @property
    def error(self) -> NDArray[np.float64]:
        """How often the metric contradicts people, (P,)."""
        return np.asarray(self.noise_part + self.bias + self.variance_part)


def decompose(people: Labels, metric: Labels) -> Decomposition:
    """Split the error of a metric into its parts; exact if the labels are independent."""
    bias = (people.first_better != metric.first_better).astype(np.float64)
    c1 = 1 - 2 * bias
    c0 = c1 * (1 - 2 * metric.wavers)
    return Decomposition(
        people.wavers, metric.wavers, bias, np.asarray(c0 * people.wavers), np.asarray(c1 * metric.wavers)
    )


def normal_labels(differences: NDArray[np.float64], errors: NDArray[np.float64]) -> Labels:
    """Return the labels for means that are normal around the observed ones: N = Φ(−|d| / se).

    Args:
        differences: (P,), d, the mean of the first system minus that of the second.
        errors: (P,), their standard errors; an error of 0 gives N = 0, or ½ if the difference is 0.
    """
    return Labels(differences > 0, _wavering(differences, errors))


def drawn_labels(first: NDArray[np.float64], second: NDArray[np.float64]) -> Labels:
    """Return the labels from resamples.

    Args:
        first: (draws, P), the mean of the first system of each pair in each resample.
        second: (draws, P), the mean of the second system.
    """
    share = (first > second).mean(axis=0)
    return Labels(share > 1 / 2, np.minimum(share, 1 - share))


def labels_of(draws: NDArray[np.float64], pairs: Pairs) -> Labels:
    """Return the labels from resampled means of systems, (draws, S)."""
    first, second = pairs
    return drawn_labels(draws[:, first], draws[:, second])


def error_of_people(
    differences: NDArray[np.float64], variances: NDArray[np.float64], judgments: float
) -> float:
    """Return how often people prefer the wrong system with `judgments` judgments, averaged over pairs.

    Args:
        differences: (P,), differences of the systems' means, treated as the truth.
        variances: (P,), variance of a judgment of the first system plus that of the second.
        judgments: number of judgments of each system, above 0, a real number.
    """
    return float(_wavering(differences, np.sqrt(variances / judgments)).mean())


def _wavering(differences: NDArray[np.float64], errors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Φ(−|d| / se); ½ if the difference is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(differences == 0, 0.0, np.abs(differences) / errors)
    return np.asarray(ndtr(-ratio))


# A metric without noise and variance still errs on the pairs where it is biased. People err less with more
# judgments. The number of judgments with the same error is the worth of the metric.
#
# Source: Wei and Jia, ACL 2021, section 6.2 and figure 3. They publish 600 judgments for BERTScore on WMT, or
# 300 of the perfect annotator.
# Limits of the search for the worth, by bisection.
FEWEST, MOST = 1e-6, 1e12
HALVINGS = 100


def judgments_worth(bias: float, differences: NDArray[np.float64], variances: NDArray[np.float64]) -> float:
    """Return the number of judgments of each system with which people err as often as a metric is biased.

    Args:
        bias: bias of the metric, averaged over pairs, between 0 and 1.
        differences: (P,), differences of the systems' means by people.
        variances: (P,), variance of a judgment of the first system plus that of the second.

    Returns:
        A real number; below 1 the metric is worth less than one judgment. 0 if it errs more often than
        chance, infinite if no number of judgments has such a small error.
    """
    if bias > error_of_people(differences, variances, FEWEST):
        return 0.0
    if bias <= error_of_people(differences, variances, MOST):
        return math.inf
    low, high = math.log(FEWEST), math.log(MOST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        errs_more = error_of_people(differences, variances, math.exp(middle)) > bias
        low, high = (middle, high) if errs_more else (low, middle)
    return math.exp(high)


def error_curve(
    differences: NDArray[np.float64], variances: NDArray[np.float64], sizes: Sequence[float]
) -> NDArray[np.float64]:
    """Return how often people err for each number of judgments of a system, (sizes,)."""
    return np.array([error_of_people(differences, variances, size) for size in sizes])


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
        looks: the parts from the first resamples of the published bootstrap, for growing numbers of them.
    """

    metric: str
    r: float
    errors: dict[str, Decomposition]
    worth: float
    looks: tuple["Look", ...]


@dataclass(frozen=True)
class PublishedLabels:
    """People's labels from the published bootstrap.

    Attributes:
        labels: labels over all resamples.
        means: (draws, S), the means of the systems in each resample.
        seed: seed of the draws.
    """

    labels: Labels
    means: NDArray[np.float64]
    seed: int


def published_labels(comparison: PairedComparison, draws: int, seed: int) -> PublishedLabels:
    """Return people's labels when judgments are drawn independently."""
    opinion = comparison.opinion
    means = resampled_means(
        opinion.values, opinion.system_codes, len(opinion.systems), draws, generator(seed, "people's labels")
    )
    return PublishedLabels(labels_of(means, comparison.means.pairs), means, seed)


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
    drawn = resampled_means(scores[at], systems, len(opinion.systems), len(published.means), rng)
    errors[BOOTSTRAP] = decompose(published.labels, labels_of(drawn, comparison.means.pairs))
    bias = float(next(iter(errors.values())).bias.mean())
    worth = judgments_worth(bias, comparison.means.differences, comparison.variances)
    looks = tuple(
        look(published.means[:size], drawn[:size], comparison.means.pairs) for size in _sizes(len(drawn))
    )
    return MetricError(metric, _within_systems(comparison, scores, means), errors, worth, looks)


# The bootstrap draws at random, so its results differ from run to run.
#
# Source: Wei and Jia, ACL 2021, appendix B and the caption of table 1: an estimation error below 10^-3 with
# 10,000 resamples.
@dataclass(frozen=True, slots=True)
class Look:
    """The error of a metric and its parts, averaged over pairs, from so many resamples.

    Attributes:
        draws: number of resamples.
        error: share of labels that differ between metric and people, resample by resample.
        error_se: standard error of `error`, from the spread over resamples.
        noise_part, bias, variance_part: see `Decomposition`.
    """

    draws: int
    error: float
    error_se: float
    noise_part: float
    bias: float
    variance_part: float


def look(people: NDArray[np.float64], metric: NDArray[np.float64], pairs: Pairs) -> Look:
    """Return what resampled means of people and of a metric, both (draws, S), say of the metric's error."""
    first, second = pairs
    differs = (people[:, first] > people[:, second]) != (metric[:, first] > metric[:, second])
    errors = differs.mean(axis=1)
    found = decompose(labels_of(people, pairs), labels_of(metric, pairs))
    return Look(
        len(people),
        float(errors.mean()),
        float(errors.std(ddof=1) / np.sqrt(len(errors))) if len(errors) > 1 else np.nan,
        float(found.noise_part.mean()),
        float(found.bias.mean()),
        float(found.variance_part.mean()),
    )


def _sizes(draws: int) -> list[int]:
    return [*(size for size in (100, 300, 1_000, 3_000, 10_000) if size < draws), draws]


# Two-sided level at which two systems are apart: p = 2 Φ(−|d| / se), twice the noise of the normal labels.
#
# Source: Wei and Jia, ACL 2021, appendix E: which pairs reach significance, by people and by metrics.
def are_apart(wavers: NDArray[np.float64], alpha: float) -> NDArray[np.bool_]:
    """Return whether each pair is significantly different, from how often its normal label wavers, (P,)."""
    return np.asarray(2 * wavers < alpha)


def _within_systems(comparison: PairedComparison, scores: NDArray[np.float64], means: SystemMeans) -> float:
    opinion = comparison.opinion
    g = scores[opinion.outputs] - means.mean[opinion.system_codes]
    return pearson(opinion.values - comparison.means.mean[opinion.system_codes], g)

"""Standard errors of system means and differences, for any clustering of judgments.

Judgments of one unit, an output or a worker, are taken to depend on one another in any way, those of
different units not at all. What a unit adds to the error of a mean is the sum of its residuals over the
number of judgments of the system; the variance of the mean is the sum of the squares of these, and that of a
difference the sum of the squares of what a unit adds to both. So a worker who is strict with both systems
adds nothing to it.

The formula, its factor U / (U − 1) for U units and its sources are in `clustered_error`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.statistics.groups import group_means


# The sandwich form with one cluster for each worker: se² = W / (W − 1) · Σ_w (Σ_(i of w) c_i)², c_i being
# what judgment i contributes to the deviation of the mean. Sources: Liang and Zeger, *Longitudinal data
# analysis using generalized linear models*, Biometrika 73, 1986; the factor: Cameron and Miller, *A
# practitioner's guide to cluster-robust inference*, Journal of Human Resources 50, 2015, section VI; where
# outputs are judged more than once they are clusters, too: Cameron, Gelbach and Miller, *Robust inference
# with multiway clustering*, Journal of Business & Economic Statistics 29, 2011.
def variance_of_sums(
    sums: NDArray[np.float64], present: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """Return the variance of the total of the sums of C clusters, however its terms depend within a cluster.

    Args:
        sums: (C,), or (C, S) for S totals, of the contributions of each cluster.
        present: of the same shape, whether the cluster contributes; None for all.

    Returns:
        () or (S,); NaN with fewer than two clusters.
    """
    clusters = np.asarray(len(sums) if present is None else present.sum(axis=0))
    factor = np.where(clusters > 1, clusters / np.maximum(clusters - 1, 1), np.nan)
    return np.asarray(factor * (sums**2).sum(axis=0), np.float64)


def clustered_variance(contributions: NDArray[np.float64], clusters: NDArray[np.intp]) -> float:
    """Return the variance of the sum of `contributions`, however those of one cluster depend on one another.

    Args:
        contributions: (K,), deviations from what they are estimated to be, times their weights.
        clusters: (K,), codes.

    Returns:
        NaN with fewer than two clusters.
    """
    _, of = np.unique(clusters, return_inverse=True)
    return float(variance_of_sums(np.bincount(of, contributions).astype(np.float64)))


def two_way_variance(
    contributions: NDArray[np.float64], workers: NDArray[np.intp], outputs: NDArray[np.intp]
) -> float:
    """Return the variance of the sum if judgments of one worker, and those of one output, hang together.

    It is that by workers, plus what different workers' judgments of the same output add: nothing where
    each output has one judgment. It is never below that by workers, as sampling noise could make it.

    Args:
        contributions: (K,), as for `clustered_variance`.
        workers: (K,), codes.
        outputs: (K,), codes.
    """
    by_worker = clustered_variance(contributions, workers)
    both = outputs * (int(workers.max(initial=0)) + 1) + workers
    added = clustered_variance(contributions, outputs) - clustered_variance(contributions, both)
    return by_worker + max(added, 0.0) if np.isfinite(added) else by_worker


def independent_variance(contributions: NDArray[np.float64]) -> float:
    """Return the variance of the sum as if no two judgments had anything in common; NaN for a single one."""
    return clustered_variance(contributions, np.arange(len(contributions)))


Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True, slots=True)
class SystemMeans:
    """What is known of S systems if all judgments are independent of one another.

    Attributes:
        mean: (S,).
        variance: (S,), of a judgment, with the number of judgments as divisor.
        count: (S,), judgments.
    """

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    count: NDArray[np.intp]

    @property
    def pairs(self) -> Pairs:
        """The codes of the first and the second system of all P pairs, each (P,)."""
        first, second = np.triu_indices(len(self.mean), 1)
        return first, second

    @property
    def differences(self) -> NDArray[np.float64]:
        """By how much the mean of the first system of each pair is higher, (P,)."""
        first, second = self.pairs
        return np.asarray(self.mean[first] - self.mean[second])

    @property
    def difference_errors(self) -> NDArray[np.float64]:
        """The standard errors of `differences`, (P,)."""
        first, second = self.pairs
        squares = self.variance / self.count
        return np.sqrt(squares[first] + squares[second])


def system_means(values: NDArray[np.float64], systems: NDArray[np.intp], count: int) -> SystemMeans:
    """Return the means of `count` systems.

    Args:
        values: (rows,).
        systems: (rows,), codes from 0; each of the systems occurs.
        count: S, the number of systems.
    """
    mean = group_means(values, systems, count)
    variance = group_means((values - mean[systems]) ** 2, systems, count)
    return SystemMeans(mean, variance, np.bincount(systems, minlength=count))


@dataclass(frozen=True, slots=True)
class UnitShares:
    """What each of U units adds to the errors of the means of S systems.

    Attributes:
        shares: (U, S), sums of residuals over the number of judgments of the system.
        present: (U, S), whether the unit has a judgment of the system.
    """

    shares: NDArray[np.float64]
    present: NDArray[np.bool_]

    @property
    def mean_errors(self) -> NDArray[np.float64]:
        """Standard errors of the means, (S,), with the factor U / (U − 1); NaN for fewer than two units."""
        return np.sqrt(variance_of_sums(self.shares, self.present))

    def difference_errors(self, pairs: Pairs) -> NDArray[np.float64]:
        """Return standard errors of differences, (P,), with the factor U / (U − 1); NaN as above."""
        first, second = pairs
        either = self.present[:, first] | self.present[:, second]
        return np.sqrt(variance_of_sums(self.shares[:, first] - self.shares[:, second], either))

    def plain_difference_errors(self, pairs: Pairs) -> NDArray[np.float64]:
        """Return the same without the factor, as Wei and Jia's bootstrap of outputs has it."""
        first, second = pairs
        squares: NDArray[np.float64] = ((self.shares[:, first] - self.shares[:, second]) ** 2).sum(axis=0)
        return np.sqrt(squares)


def unit_shares(
    values: NDArray[np.float64], systems: NDArray[np.intp], units: NDArray[np.intp], count: int
) -> UnitShares:
    """Return what each unit adds; the arguments are those of `system_means`.

    Args:
        values: (rows,).
        systems: (rows,), codes from 0; each of the systems occurs.
        units: (rows,), codes from 0 of outputs or workers.
        count: S, the number of systems.
    """
    means = group_means(values, systems, count)
    sizes = np.bincount(systems, minlength=count)
    shape = (int(units.max()) + 1, count)
    cells = units * count + systems
    added = (values - means[systems]) / sizes[systems]
    shares = np.bincount(cells, weights=added, minlength=shape[0] * count).astype(np.float64)
    present = np.bincount(cells, minlength=shape[0] * count) > 0
    return UnitShares(shares.reshape(shape), present.reshape(shape))


# The design effect is the square of the standard error over workers, divided by the square of that which
# takes all judgments to be independent. Kish, *Survey Sampling*, 1965, section 8.2.
def effects_on_means(means: SystemMeans, workers: UnitShares) -> NDArray[np.float64]:
    """Return the design effect of the mean of each system, (S,).

    NaN where fewer than two workers judged it, or all of its judgments are equal. The independent standard
    error has n − 1 as divisor.
    """
    independent = means.variance / np.maximum(means.count - 1, 1)
    return _ratio(workers.mean_errors**2, independent)


def effects_on_differences(means: SystemMeans, workers: UnitShares) -> NDArray[np.float64]:
    """Return the design effect of the difference of each pair, (P,); NaN as above.

    It is the smaller one where the same workers judge both systems, for their strictness then cancels.
    """
    first, second = means.pairs
    squares = means.variance / np.maximum(means.count - 1, 1)
    return _ratio(workers.difference_errors(means.pairs) ** 2, squares[first] + squares[second])


def pooled_effect(means: SystemMeans, workers: UnitShares) -> float:
    """Return one design effect of differences for all pairs: the ratio of the sums of their variances.

    A single pair's is too uncertain to plan with. NaN if that of no pair is known.
    """
    first, second = means.pairs
    squares = means.variance / np.maximum(means.count - 1, 1)
    independent = squares[first] + squares[second]
    clustered = workers.difference_errors(means.pairs) ** 2
    known = np.isfinite(clustered) & (independent > 0)
    return float(clustered[known].sum() / independent[known].sum()) if known.any() else np.nan


def _ratio(clustered: NDArray[np.float64], independent: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(clustered / np.where(independent > 0, independent, np.nan))


# All judgments count alike, and the pool is taken as endless. Independent standard errors are those of a mean
# of unrelated judgments; clustered ones let the judgments of one worker hang together in any way. Source of
# the warning: Chaganty, Mussmann and Liang, ACL 2018, footnote 2; on their data the effect is large.
@dataclass(frozen=True, slots=True)
class WorkerEffect:
    """Standard errors of the mean ȳ and of the control-variates mean μ̃, by two assumptions.

    Attributes:
        judgments, workers: how many.
        alpha: slope on the metric, from all judgments.
        mean, estimate: ȳ and μ̃.
        se_iid_mean, se_iid_cv: as if judgments were independent.
        de_iid: (se_iid_mean / se_iid_cv)².
        se_cluster_mean, se_cluster_cv: clustered by worker.
        de_cluster: (se_cluster_mean / se_cluster_cv)²; below 1 the metric does harm.
    """

    judgments: int
    workers: int
    alpha: float
    mean: float
    estimate: float
    se_iid_mean: float
    se_iid_cv: float
    de_iid: float
    se_cluster_mean: float
    se_cluster_cv: float
    de_cluster: float


def worker_effect(
    values: NDArray[np.float64], metric: NDArray[np.float64], workers: NDArray[np.intp]
) -> WorkerEffect:
    """Return the standard errors of ȳ and μ̃ by both assumptions; NaN with one worker.

    Args:
        values: (K,), judgments.
        metric: (K,), of the outputs that they are of, standardised on the pool.
        workers: (K,), codes.
    """
    mean = float(values.mean())
    alpha = float(((values - mean) * metric).mean())
    residuals = values - alpha * metric
    estimate = float(residuals.mean())
    of_mean, of_estimate = ((each - each.mean()) / len(each) for each in (values, residuals))
    iid_mean, iid_cv = independent_variance(of_mean), independent_variance(of_estimate)
    by_worker, by_worker_cv = (clustered_variance(each, workers) for each in (of_mean, of_estimate))
    return WorkerEffect(
        judgments=len(values),
        workers=len(np.unique(workers)),
        alpha=alpha,
        mean=mean,
        estimate=estimate,
        se_iid_mean=float(np.sqrt(iid_mean)),
        se_iid_cv=float(np.sqrt(iid_cv)),
        de_iid=_worker_effect_ratio(iid_mean, iid_cv),
        se_cluster_mean=float(np.sqrt(by_worker)),
        se_cluster_cv=float(np.sqrt(by_worker_cv)),
        de_cluster=_worker_effect_ratio(by_worker, by_worker_cv),
    )


def _worker_effect_ratio(before: float, after: float) -> float:
    return before / after if after > 0 else float("nan")

"""Standard errors of system means and differences, for any clustering of judgments or perfect annotators.

Judgments of one unit (an output or a worker) may depend on one another in any way; those of different units
are independent. A unit's contribution to the error of a mean is the sum of its residuals, divided by the
number of judgments of the system. The variance of the mean is the sum of the squared contributions. For a
difference it is the sum of the squared differences of the contributions. So a worker who is strict with both
systems adds nothing to it.

The formula, its factor U / (U − 1) for U units and its sources are below.

A perfect annotator gives an output the mean of infinitely many judgments, so that only the variance between
outputs remains. R = Var H / (Var H − within): n such judgments are worth R n ordinary ones.

Source: Wei and Jia, ACL 2021, section 6.1 and tables 3 and 4. Table 4 computes the variance within an output
with the divisor k, its number of judgments, which is too small by the factor (k − 1) / k; table 3 uses k − 1.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from qc.statistics.confidence import NOISE
from qc.statistics.groups import group_means


# Sandwich estimator with one cluster for each worker: se² = W / (W − 1) · Σ_w (Σ_(i of w) c_i)², where c_i is
# the contribution of judgment i to the error of the mean. Sources: Liang and Zeger, *Longitudinal data
# analysis using generalized linear models*, Biometrika 73, 1986; the factor: Cameron and Miller, *A
# practitioner's guide to cluster-robust inference*, Journal of Human Resources 50, 2015, section VI; outputs
# as second clusters if they are judged more than once: Cameron, Gelbach and Miller, *Robust inference with
# multiway clustering*, Journal of Business & Economic Statistics 29, 2011 (`error_of_record`).
def variance_of_sums(
    sums: NDArray[np.float64], present: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """Return the variance of the total of C cluster sums, for any dependence within a cluster.

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
    """Return the variance of the sum of `contributions`, for any dependence within a cluster.

    Args:
        contributions: (K,), deviations from their estimated expectation, times their weights.
        clusters: (K,), codes.

    Returns:
        NaN with fewer than two clusters.
    """
    _, of = np.unique(clusters, return_inverse=True)
    return float(variance_of_sums(np.bincount(of, contributions).astype(np.float64)))


@dataclass(frozen=True, slots=True)
class ErrorOfRecord:
    """A standard error, and the degrees of freedom of its Student's t.

    `se` is NaN with fewer than two workers, `degrees` with fewer than FEWEST_WORKERS.
    """

    se: float
    degrees: float

    def reach(self, level: float) -> float:
        """Return the half-width of the interval at `level`."""
        return float(stdtrit(self.degrees, (1 + level) / 2)) * self.se


FEWEST_WORKERS = 5  # effective ones, W* below; of fewer the interval held 93 to 100 %


# Workers who judged more move the mean more, and their residuals are then too small, so the variance by
# workers is the jackknife: each sum of contributions is divided by 1 - p, with p the worker's share of all
# weights. Its degrees of freedom are those of W* = 1 / Σ p² workers. If all judged as much, both are the
# usual: W / (W - 1) times the sum of squares, and W - 1. What different workers' judgments of the same
# outputs add is the variance by O outputs, with O - 1 degrees of freedom, less that by worker and output.
# Those of the sum: Satterthwaite, who allows for differences. They are those of the whole, since a metric's
# slope is estimated from the same judgments.
#
# Sources: jackknife of clusters (CV3): MacKinnon, Nielsen and Webb, *Fast and reliable jackknife and
# bootstrap methods for cluster-robust inference*, Journal of Applied Econometrics 38, 2023; W*:
# Carter, Schnepel and Steigerwald, *Asymptotic behavior of a t-test robust to cluster heterogeneity*, Review
# of Economics and Statistics 99, 2017, with clusters alike but for their size; the sum of two clusterings:
# Cameron, Gelbach and Miller 2011, section 2; its degrees of freedom: Satterthwaite, *An approximate
# distribution of estimates of variance components*, Biometrics Bulletin 2, 1946.
def error_of_record(
    contributions: NDArray[np.float64],
    weights: NDArray[np.float64],
    workers: NDArray[np.intp],
    outputs: NDArray[np.intp],
    added: float = 0.0,
) -> ErrorOfRecord:
    """Return the error of the sum if judgments of one worker, and those of one output, are correlated.

    The variance is that by workers, plus the part from different workers' judgments of the same output, which
    is 0 if each output has one judgment. It is never below the variance by workers, although sampling noise
    could make it so.

    Args:
        contributions: (K,), as for `clustered_variance`.
        weights: (K,), weights of the judgments in the mean; they add up to 1.
        workers: (K,), codes.
        outputs: (K,), codes.
        added: variance of what does not depend on the judgments, such as a pool's metric.
    """
    _, of = np.unique(workers, return_inverse=True)
    shares = np.bincount(of, weights)
    count = len(shares)
    effective = 1 / float((shares**2).sum())
    if count < 2:
        return ErrorOfRecord(np.nan, np.nan)
    sums = np.bincount(of, contributions) / (1 - shares)
    by_worker = (count - 1) / count * float((sums**2).sum())
    variance, spread = by_worker, by_worker**2 / (effective - 1)
    judged = len(np.unique(outputs))
    if 1 < judged < len(outputs):
        both = outputs * (int(workers.max()) + 1) + workers
        by_output, by_both = (clustered_variance(contributions, each) for each in (outputs, both))
        if by_output > by_both:
            variance += by_output - by_both
            spread += by_output**2 / (judged - 1) + by_both**2 / (len(np.unique(both)) - 1)
    degrees = variance**2 / spread if spread > 0 else effective - 1
    if effective < FEWEST_WORKERS * (1 - NOISE):
        degrees = np.nan
    return ErrorOfRecord(float(np.sqrt(variance + added)), degrees)


def independent_variance(contributions: NDArray[np.float64]) -> float:
    """Return the variance of the sum as if all judgments were independent; NaN for a single judgment."""
    return clustered_variance(contributions, np.arange(len(contributions)))


Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True, slots=True)
class SystemMeans:
    """Means of S systems, with variances as if all judgments were independent.

    Attributes:
        mean: (S,).
        variance: (S,), variance of a judgment, with the number of judgments as divisor.
        count: (S,), number of judgments.
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
        """Mean of the first system of each pair minus that of the second, (P,)."""
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
    """Contributions of each of U units to the errors of the means of S systems.

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
        """Return the same without the factor, as in Wei and Jia's bootstrap of outputs."""
        first, second = pairs
        squares: NDArray[np.float64] = ((self.shares[:, first] - self.shares[:, second]) ** 2).sum(axis=0)
        return np.sqrt(squares)


def unit_shares(
    values: NDArray[np.float64], systems: NDArray[np.intp], units: NDArray[np.intp], count: int
) -> UnitShares:
    """Return the contributions of each unit.

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


# The design effect is the squared standard error over workers, divided by the squared standard error for
# independent judgments. Kish, *Survey Sampling*, 1965, section 8.2.
def effects_on_means(means: SystemMeans, workers: UnitShares) -> NDArray[np.float64]:
    """Return the design effect of the mean of each system, (S,).

    NaN if fewer than two workers judged it, or all of its judgments are equal. The independent standard error
    has n − 1 as divisor.
    """
    independent = means.variance / np.maximum(means.count - 1, 1)
    return _ratio(workers.mean_errors**2, independent)


def effects_on_differences(means: SystemMeans, workers: UnitShares) -> NDArray[np.float64]:
    """Return the design effect of the difference of each pair, (P,); NaN as above.

    It is smaller if the same workers judge both systems, because their strictness cancels.
    """
    first, second = means.pairs
    squares = means.variance / np.maximum(means.count - 1, 1)
    return _ratio(workers.difference_errors(means.pairs) ** 2, squares[first] + squares[second])


def pooled_effect(means: SystemMeans, workers: UnitShares) -> float:
    """Return one design effect of differences for all pairs: the ratio of the sums of their variances.

    The effect of a single pair is too uncertain for planning. NaN if no pair has one.
    """
    first, second = means.pairs
    squares = means.variance / np.maximum(means.count - 1, 1)
    independent = squares[first] + squares[second]
    clustered = workers.difference_errors(means.pairs) ** 2
    known = np.isfinite(clustered) & (independent > 0)
    return float(clustered[known].sum() / independent[known].sum()) if known.any() else np.nan


def _ratio(clustered: NDArray[np.float64], independent: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(clustered / np.where(independent > 0, independent, np.nan))


# All judgments have the same weight, and the pool is treated as infinite. Independent standard errors assume
# independent judgments; clustered ones allow any dependence between the judgments of one worker. Source of
# the warning: Chaganty, Mussmann and Liang, ACL 2018, footnote 2; on their data the effect is large.
@dataclass(frozen=True, slots=True)
class WorkerEffect:
    """Standard errors of the mean ȳ and of the control-variates mean μ̃, under two assumptions.

    Attributes:
        judgments, workers: their numbers.
        alpha: slope on the metric, from all judgments.
        mean, estimate: ȳ and μ̃.
        se_iid_mean, se_iid_cv: as if judgments were independent.
        de_iid: (se_iid_mean / se_iid_cv)².
        se_cluster_mean, se_cluster_cv: clustered by worker.
        de_cluster: (se_cluster_mean / se_cluster_cv)²; below 1 the metric makes the estimate worse.
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
    """Return the standard errors of ȳ and μ̃ under both assumptions; NaN with one worker.

    Args:
        values: (K,), judgments.
        metric: (K,), metric of their outputs, standardised on the pool.
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


@dataclass(frozen=True, slots=True)
class PerfectAnnotator:
    """The variance of a judgment, and its part within an output.

    Attributes:
        variance: of all judgments, with their number as divisor.
        within: mean variance of the judgments of one output; NaN if no output was judged twice.
    """

    variance: float
    within: float

    @property
    def sd(self) -> float:
        """Standard deviation of a judgment."""
        return float(np.sqrt(self.variance))

    @property
    def sd_within(self) -> float:
        """Standard deviation of the judgments of one output."""
        return float(np.sqrt(self.within))

    @property
    def sd_perfect(self) -> float:
        """Standard deviation of a perfect annotator's judgments; NaN without variance between outputs."""
        left = self.variance - self.within
        return float(np.sqrt(left)) if left > 0 else np.nan

    @property
    def ratio(self) -> float:
        """R, the number of ordinary judgments that a perfect judgment is worth; NaN if `sd_perfect` is."""
        return self.variance / self.sd_perfect**2


def perfect_annotator(values: NDArray[np.float64], outputs: NDArray[np.intp]) -> PerfectAnnotator:
    """Return the variances, with divisor k − 1 within outputs.

    Args:
        values: (rows,), judgments.
        outputs: (rows,), codes from 0; an output that was judged once does not count for the part within.
    """
    squares, spare = _within(values, outputs)
    return PerfectAnnotator(float(values.var()), squares / spare if spare else np.nan)


def published_annotator(values: NDArray[np.float64], outputs: NDArray[np.intp]) -> PerfectAnnotator:
    """Return the variances as printed in table 4, with divisor k within outputs."""
    squares, spare = _within(values, outputs)
    return PerfectAnnotator(float(values.var()), squares / len(values) if spare else np.nan)


def annotator_within_systems(
    values: NDArray[np.float64], outputs: NDArray[np.intp], systems: NDArray[np.intp]
) -> PerfectAnnotator:
    """Return the variances, with the mean over systems of the variance within each as total.

    Use this one to plan a comparison of two systems: the variance between systems is what the plan should
    detect, so it does not count here.

    Args:
        values: (rows,), judgments.
        outputs: (rows,), codes from 0.
        systems: (rows,), codes from 0, each of which occurs.
    """
    count = int(systems.max()) + 1
    means = group_means(values, systems, count)
    variance = group_means((values - means[systems]) ** 2, systems, count).mean()
    return PerfectAnnotator(float(variance), perfect_annotator(values, outputs).within)


def _within(values: NDArray[np.float64], outputs: NDArray[np.intp]) -> tuple[float, int]:
    """Return the sum of squares within outputs, and its degrees of freedom (judgments − outputs)."""
    count = int(outputs.max()) + 1
    residuals = values - group_means(values, outputs, count)[outputs]
    judged = int(np.count_nonzero(np.bincount(outputs)))
    return float((residuals**2).sum()), len(values) - judged

"""Analyse power: from judgments, or a standard deviation, to the number of judgments for a difference.

Sample sizes are those of a two-sided t test of two means. Each system is judged n times, all judgments are
independent, and both systems have the same variance. A design effect above 1 accounts for correlated
judgments: it is the number of them that are worth one independent one.

Sources: Wei and Jia, *The statistical advantage of automatic NLG metrics at the system level*, ACL 2021,
section 6.1 and tables 2 and 5, which print 2n, both systems together, n a real number; Cohen, *Statistical
Power Analysis for the Behavioral Sciences*, 1988, section 2.5 (the test's power by the noncentral t).
"""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import nctdtr, ndtri, stdtrit

from qc.errors import EmptyRunError, OptionError
from qc.options import OnStep, no_step
from qc.planning.comparison import MetricError, PairedComparison, compare, metric_error, published_labels
from qc.planning.opinion import SystemOpinion
from qc.signature import DIGEST_LENGTH, as_part

# Default, as in the tables of Wei and Jia.
POWER = 0.95
ALPHA = 0.05
# With fewer judgments there is no estimate of their variance.
FEWEST_JUDGMENTS = 2.0
# Upper limits of the bisection for a size, and for a difference in standard deviations.
MOST_JUDGMENTS = 1e12
MOST_DEVIATIONS = 1e6
HALVINGS = 100


@dataclass(frozen=True, slots=True)
class SampleSize:
    """Number of judgments needed to detect a difference.

    Attributes:
        difference: difference of the two systems' means.
        sd: standard deviation of a judgment of one system.
        design_effect: number of judgments that are worth one independent one.
        independent: judgments of each system, a real number, if they were independent.
        normal: for both systems together, by the normal approximation, which is a little low.
    """

    difference: float
    sd: float
    design_effect: float
    independent: float
    normal: float

    @property
    def exact(self) -> float:
        """Judgments of each system as a real number, including the design effect."""
        return self.independent * self.design_effect

    @property
    def per_system(self) -> int:
        """Whole number of judgments of each system, at least 2 for a test."""
        return max(math.ceil(self.exact), math.ceil(FEWEST_JUDGMENTS))

    @property
    def published(self) -> int:
        """Judgments of both systems together, rounded as published, including the design effect."""
        return round(2 * self.exact)


def sample_size(
    difference: float, sd: float, power: float = POWER, alpha: float = ALPHA, design_effect: float = 1.0
) -> SampleSize:
    """Return the number of judgments that detect a difference with the given power.

    Args:
        difference: difference of the two systems' means, above 0, in the unit of a judgment.
        sd: standard deviation of a judgment of one system, above 0.
        power: probability that the test detects the difference, above `alpha` and below 1.
        alpha: level of the test, two-sided.
        design_effect: (clustered se / independent se)², above 0.
    """
    effect = difference / sd
    independent = judgments_for(effect, power, alpha)
    normal = 4 * (ndtri(1 - alpha / 2) + ndtri(power)) ** 2 / effect**2 * design_effect
    return SampleSize(difference, sd, design_effect, independent, float(normal))


def detectable_difference(
    judgments: float, sd: float, power: float = POWER, alpha: float = ALPHA, design_effect: float = 1.0
) -> float:
    """Return the smallest difference that `judgments` judgments of each system detect with the given power.

    Arguments as for `sample_size`.

    Returns:
        A difference in the unit of `sd`; infinite with the worth of fewer than two independent judgments.
    """
    independent = judgments / design_effect
    if independent < FEWEST_JUDGMENTS:
        return math.inf
    return sd * _first(lambda effect: power_of(effect, independent, alpha) >= power, 0, MOST_DEVIATIONS)


def judgments_for(effect: float, power: float = POWER, alpha: float = ALPHA) -> float:
    """Return the number of independent judgments of each system to detect `effect` standard deviations.

    Returns:
        A real number, at least 2.
    """
    logarithm = _first(
        lambda n: power_of(effect, math.exp(n), alpha) >= power,
        math.log(FEWEST_JUDGMENTS),
        math.log(MOST_JUDGMENTS),
    )
    return math.exp(logarithm)


def power_of(effect: float, judgments: float, alpha: float = ALPHA) -> float:
    """Return the probability that the test detects a difference.

    Args:
        effect: the difference in standard deviations of a judgment.
        judgments: independent judgments of each system, at least 2, a real number.
        alpha: level of the test, two-sided.
    """
    degrees = 2 * judgments - 2
    critical = float(stdtrit(degrees, 1 - alpha / 2))
    shift = effect * math.sqrt(judgments / 2)
    return 1 - _below(critical, degrees, shift) + _below(-critical, degrees, shift)


def _below(value: float, degrees: float, shift: float) -> float:
    """Return the probability that a noncentral t is below `value`; 0 if SciPy gives NaN (below 1e-80)."""
    chance = float(nctdtr(degrees, shift, value))
    return 0.0 if math.isnan(chance) else chance


def _first(reached: Callable[[float], bool], low: float, high: float) -> float:
    """Return the point between `low` and `high` from which a condition holds; `high` if it never does."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


# Quantiles of the observed differences for which a plan is shown.
QUANTILES = (0.25, 0.5, 0.75)
# Every judgment is by a different worker, and of a different output.
INDEPENDENT = "independent judgments"
# As many judgments of each output, or by each worker, as in the data.
OUTPUTS_AS_HERE = "each output judged as often as here"
AS_HERE = "each worker judging as here"


@dataclass(frozen=True)
class Basis:
    """A way of gathering judgments: their standard deviation, and the design effect of their correlation."""

    name: str
    sd: float
    design_effect: float


@dataclass(frozen=True)
class PlanOptions:
    """Options of a plan.

    Attributes:
        differences: differences of two systems' means, in the unit of a judgment.
        judgments: numbers of judgments of each system, to compute the differences that they detect.
        power: probability of detecting a true difference.
        alpha: level of the two-sided test.

    Raises:
        OptionError: a value is invalid.
    """

    differences: tuple[float, ...] = ()
    judgments: tuple[int, ...] = ()
    power: float = POWER
    alpha: float = ALPHA

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise OptionError(f"--alpha is {self.alpha:g}, but a level lies between 0 and 1.")
        if not self.alpha < self.power < 1:
            raise OptionError(
                f"--power is {self.power:g}, but it lies above α ({self.alpha:g}) and below 1: it is the "
                "chance to find a difference that is there."
            )
        for difference in self.differences:
            if not 0 < difference < np.inf:
                raise OptionError(f"--difference is {difference:g}, but it must be above 0.")
        for judgments in self.judgments:
            if judgments < 2:
                raise OptionError(f"--judgments is {judgments}, but a test needs 2 or more of each system.")


@dataclass(frozen=True)
class Planned:
    """Number of judgments to detect a difference, on a basis."""

    basis: Basis
    size: SampleSize


@dataclass(frozen=True)
class Shown:
    """Smallest difference that a number of judgments of each system detects, on a basis."""

    basis: Basis
    judgments: int
    difference: float


def plan(bases: Sequence[Basis], options: PlanOptions) -> list[Planned]:
    """Return the sizes for every difference, basis after basis.

    Raises:
        OptionError: a difference is so small that no number of judgments in reach shows it.
    """
    for each in options.differences:
        if any(power_of(each / basis.sd, MOST_JUDGMENTS, options.alpha) < options.power for basis in bases):
            raise OptionError(
                f"--difference is {each:g}, but more than {MOST_JUDGMENTS:.0e} judgments would not show "
                "it. Give a larger one."
            )
    return [
        Planned(basis, sample_size(each, basis.sd, options.power, options.alpha, basis.design_effect))
        for basis in bases
        for each in options.differences
    ]


def shown(bases: Sequence[Basis], options: PlanOptions) -> list[Shown]:
    """Return the differences that each number of judgments detects, basis after basis."""
    return [
        Shown(
            basis,
            each,
            detectable_difference(each, basis.sd, options.power, options.alpha, basis.design_effect),
        )
        for basis in bases
        for each in options.judgments
    ]


def bases(comparison: PairedComparison, metrics: Sequence[MetricError]) -> list[Basis]:
    """Return the ways of gathering judgments for which the data give a standard deviation above 0.

    The metric with the highest correlation with judgments is a control variate: with an infinite pool of
    outputs the standard deviation becomes sd √(1 − r²), which is √(σ_f² (1 − ρ²) + σ_a²). Source: Chaganty,
    Mussmann and Liang, ACL 2018, section 3.2.
    """
    found = [Basis(INDEPENDENT, comparison.sd, 1.0)]
    if np.bincount(comparison.opinion.outputs).max() > 1:
        found.append(Basis(OUTPUTS_AS_HERE, comparison.sd, comparison.output_effect))
    if np.isfinite(comparison.worker_effect):
        found.append(Basis(AS_HERE, comparison.sd, comparison.worker_effect))
    perfect = comparison.annotator.sd_perfect
    if np.isfinite(perfect):
        found.append(Basis("a perfect annotator", perfect, 1.0))
    if known := [each for each in metrics if np.isfinite(each.r)]:
        best = max(known, key=lambda each: abs(each.r))
        left = comparison.sd * float(np.sqrt(1 - best.r**2))
        found.append(Basis(f"independent, {best.metric} as control variate", left, 1.0))
    return [basis for basis in found if basis.sd > 0 and basis.design_effect > 0]


def observed_differences(comparison: PairedComparison) -> tuple[float, ...]:
    """Return the quartiles and the median of the pairs' differences, without those that are 0."""
    sizes = np.abs(comparison.means.differences)
    return tuple(dict.fromkeys(float(each) for each in np.quantile(sizes, QUANTILES) if each > 0))


@dataclass(frozen=True)
class PowerAnalysis:
    """Results of a power analysis.

    Attributes:
        options: the options of the plan.
        bases: the ways of gathering judgments in the plan.
        planned: number of judgments for each difference.
        shown: difference that each number of judgments detects.
        comparison: people's judgments; None without data.
        metrics: errors and worth of each metric.
        choices: name → value of everything that determines the numbers.
    """

    options: PlanOptions
    bases: tuple[Basis, ...]
    planned: tuple[Planned, ...]
    shown: tuple[Shown, ...]
    comparison: PairedComparison | None
    metrics: tuple[MetricError, ...]
    choices: dict[str, str]


def plan_power(options: PlanOptions, sd: float, design_effect: float) -> PowerAnalysis:
    """Return a plan for judgments with a known standard deviation.

    Args:
        options: the differences and numbers of judgments.
        sd: standard deviation of a judgment of one system.
        design_effect: number of judgments that are worth one independent one.

    Raises:
        OptionError: a number is not above 0.
    """
    for name, value in (("--sd", sd), ("--design-effect", design_effect)):
        if not 0 < value < np.inf:
            raise OptionError(f"{name} is {value:g}, but it must be above 0.")
    ways = [Basis(INDEPENDENT, sd, 1.0)]
    if design_effect != 1:
        ways.append(Basis("with the design effect", sd, design_effect))
    choices = {"sd": f"{sd:g}", "effect": f"{design_effect:g}"}
    return _power(options, ways, None, (), choices)


def analyse_power(
    opinion: SystemOpinion, options: PlanOptions, draws: int, seed: int, on_step: OnStep = no_step
) -> PowerAnalysis:
    """Plan with the judgments of a source, and compute the worth of each metric in it.

    The default differences are the observed ones, and the default number of judgments is the mean number of
    judgments of a system.

    Args:
        opinion: people's judgments.
        options: the options of the plan.
        draws: resamples for the labels of the published method.
        seed: seed of the resamples.
        on_step: called when the work on people, and on each metric, begins.

    Raises:
        EmptyRunError: all judgments of each system are the same, or a metric leaves a system out.
        OptionError: a difference is too small to be planned for.
    """
    on_step("People's labels")
    comparison = compare(opinion)
    if comparison.sd == 0:
        raise EmptyRunError(
            f"All judgments of {opinion.criterion!r} of a system are the same, so they do not tell how "
            "judgments spread. Add judgments, or name another --criterion."
        )
    published = published_labels(comparison, draws, seed)
    metrics = []
    for name in opinion.metrics:
        on_step(f"Errors of {name}")
        metrics.append(metric_error(comparison, str(name), published))
    asked = PlanOptions(
        options.differences or observed_differences(comparison),
        options.judgments or (max(2, round(float(comparison.means.count.mean()))),),
        options.power,
        options.alpha,
    )
    choices = {"data": f"sha256:{data_hash(opinion)}", "criterion": as_part(opinion.criterion)}
    choices |= {"draws": str(draws), "seed": str(seed)}
    return _power(asked, bases(comparison, metrics), comparison, tuple(metrics), choices)


def power_steps(opinion: SystemOpinion) -> int:
    """Return how often `analyse_power` calls `on_step`."""
    return 1 + len(opinion.metrics.columns)


def data_hash(opinion: SystemOpinion) -> str:
    """Return the beginning of the SHA-256, in hex, of all data that determine the numbers."""
    digest = hashlib.sha256("\x1d".join((*opinion.systems, *map(str, opinion.metrics))).encode())
    workers = np.empty(0, np.intp) if opinion.workers is None else opinion.workers
    for codes in (opinion.system_codes, opinion.outputs, workers, opinion.items, opinion.pool):
        digest.update(codes.astype("<i4").tobytes())
    for numbers in (opinion.values, opinion.positions, opinion.metrics.to_numpy(np.float64)):
        digest.update(numbers.astype("<f8").tobytes())
    return digest.hexdigest()[:DIGEST_LENGTH]


def _power(
    options: PlanOptions,
    ways: list[Basis],
    comparison: PairedComparison | None,
    metrics: tuple[MetricError, ...],
    choices: dict[str, str],
) -> PowerAnalysis:
    choices = {**choices, "power": f"{options.power:g}", "alpha": f"{options.alpha:g}"}
    planned, seen = tuple(plan(ways, options)), tuple(shown(ways, options))
    return PowerAnalysis(options, tuple(ways), planned, seen, comparison, metrics, choices)

"""Compute the number of judgments for a difference, for each way of gathering judgments."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qc.errors import OptionError
from qc.estimators.sample_size import (
    ALPHA,
    MOST_JUDGMENTS,
    POWER,
    SampleSize,
    detectable_difference,
    power_of,
    sample_size,
)
from qc.planning.comparison import PairedComparison
from qc.planning.metric_error import MetricError

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

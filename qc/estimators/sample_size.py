"""Sample size of a two-sided t test of two means: the number of judgments to distinguish two systems.

Each system is judged n times, all judgments are independent, and both systems have the same variance. A
design effect above 1 accounts for correlated judgments: it is the number of them that are worth one
independent one.

Sources: Wei and Jia, *The statistical advantage of automatic NLG metrics at the system level*, ACL 2021,
section 6.1 and tables 2 and 5, which print 2n, both systems together, n a real number; Cohen, *Statistical
Power Analysis for the Behavioral Sciences*, 1988, section 2.5 (the test's power by the noncentral t).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy.special import nctdtr, ndtri, stdtrit

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

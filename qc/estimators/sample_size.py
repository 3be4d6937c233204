"""Sample size of a two-sided t test of two means: the judgments that tell two systems apart.

Each system is judged n times, all judgments are independent of one another, and those of both systems spread
alike. A design effect above 1 stands for judgments that hang together: as many of them as the effect says are
worth one.

Sources: Wei and Jia, *The statistical advantage of automatic NLG metrics at the system level*, ACL 2021,
section 6.1 and tables 2 and 5, which print 2n, both systems together, n a real number; Cohen, *Statistical
Power Analysis for the Behavioral Sciences*, 1988, section 2.5 (the test's power by the noncentral t).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy.special import nctdtr, ndtri, stdtrit

# As in the tables of Wei and Jia.
POWER = 0.95
ALPHA = 0.05
# A mean of fewer tells nothing of how judgments spread.
FEWEST_JUDGMENTS = 2.0
# A size, and a difference in standard deviations, are searched for up to these, by halving.
MOST_JUDGMENTS = 1e12
MOST_DEVIATIONS = 1e6
HALVINGS = 100


@dataclass(frozen=True, slots=True)
class SampleSize:
    """How many judgments a difference takes.

    Attributes:
        difference: of the two systems' means.
        sd: standard deviation of a judgment of one system.
        design_effect: how many judgments are worth one independent one.
        independent: judgments of each system, a real number, if they were independent.
        normal: both systems together by the normal approximation, which is a little low.
    """

    difference: float
    sd: float
    design_effect: float
    independent: float
    normal: float

    @property
    def exact(self) -> float:
        """Judgments of each system as a real number, design effect included."""
        return self.independent * self.design_effect

    @property
    def per_system(self) -> int:
        """Judgments that a plan needs of each of the two systems; a test needs 2."""
        return max(math.ceil(self.exact), math.ceil(FEWEST_JUDGMENTS))

    @property
    def published(self) -> int:
        """Both systems together, rounded, as published; the design effect included."""
        return round(2 * self.exact)


def sample_size(
    difference: float, sd: float, power: float = POWER, alpha: float = ALPHA, design_effect: float = 1.0
) -> SampleSize:
    """Return how many judgments show a difference with the given power.

    Args:
        difference: of the two systems' means, above 0, in the unit of a judgment.
        sd: standard deviation of a judgment of one system, above 0.
        power: chance that the test finds the difference, above `alpha` and below 1.
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
    """Return the smallest difference that so many judgments of each system show with the given power.

    Arguments as for `sample_size`; `judgments` are of each of the two systems.

    Returns:
        A difference in the unit of `sd`; infinite where fewer than two independent judgments are left.
    """
    independent = judgments / design_effect
    if independent < FEWEST_JUDGMENTS:
        return math.inf
    return sd * _first(lambda effect: power_of(effect, independent, alpha) >= power, 0, MOST_DEVIATIONS)


def judgments_for(effect: float, power: float = POWER, alpha: float = ALPHA) -> float:
    """Return how many independent judgments of each system show a difference of `effect` standard deviations.

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
    """Return the chance that the test finds a difference.

    Args:
        effect: the difference in standard deviations of a judgment.
        judgments: independent ones of each system, at least 2, a real number.
        alpha: level of the test, two-sided.
    """
    degrees = 2 * judgments - 2
    critical = float(stdtrit(degrees, 1 - alpha / 2))
    shift = effect * math.sqrt(judgments / 2)
    return 1 - _below(critical, degrees, shift) + _below(-critical, degrees, shift)


def _below(value: float, degrees: float, shift: float) -> float:
    """Return the chance that a noncentral t is below `value`; where SciPy has none, it is under 1e-80."""
    chance = float(nctdtr(degrees, shift, value))
    return 0.0 if math.isnan(chance) else chance


def _first(reached: Callable[[float], bool], low: float, high: float) -> float:
    """Return where between `low` and `high` a condition that stays true begins to hold; `high` if nowhere."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high

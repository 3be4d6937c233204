"""Compare people and a metric on every pair of systems, and find where the metric breaks even.

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

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from qc.estimators.standard_error import Pairs


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

"""Compare people and a metric on every pair of systems, and find where the metric breaks even.

Judge a resample of the test set: people then call one system of a pair the better one, and so does a metric.
What each says most often is its settled label; N is how often people's label is another one than theirs
(label noise), V how often the metric's is (variance), and the bias is 1 where the two settled labels differ.
For labels that are independent of each other a metric's error, how often it contradicts people, is exactly

    error = c0 N + bias + c1 V,   c0 = 2 P(metric's label = people's settled one) − 1,   c1 = 1 − 2 bias.

Source: Wei and Jia, ACL 2021, sections 4 and 5. The columns of their table 1 come from notebooks that give
the two sets of labels in exchanged order: what is printed there as c0 · noise is the metric's variance part,
and what is printed as c1 · var the label noise.
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
    """What one way of scoring says of P pairs.

    Attributes:
        first_better: (P,), the settled label: whether the first system is the better one. A tie says no.
        wavers: (P,), how often a resample says otherwise.
    """

    first_better: NDArray[np.bool_]
    wavers: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Decomposition:
    """Where the error of a metric comes from, pair by pair, each (P,).

    Attributes:
        noise: N.
        variance: V.
        bias: 1 where the settled labels differ, else 0.
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
    """Return where the error of a metric comes from; exact if the labels are independent."""
    bias = (people.first_better != metric.first_better).astype(np.float64)
    c1 = 1 - 2 * bias
    c0 = c1 * (1 - 2 * metric.wavers)
    return Decomposition(
        people.wavers, metric.wavers, bias, np.asarray(c0 * people.wavers), np.asarray(c1 * metric.wavers)
    )


def normal_labels(differences: NDArray[np.float64], errors: NDArray[np.float64]) -> Labels:
    """Return the labels of means that are normal around what was observed: N = Φ(−|d| / se).

    Args:
        differences: (P,), d, the mean of the first system minus that of the second.
        errors: (P,), their standard errors; 0 with a difference gives 0, without one ½.
    """
    return Labels(differences > 0, _wavering(differences, errors))


def drawn_labels(first: NDArray[np.float64], second: NDArray[np.float64]) -> Labels:
    """Return the labels that resamples give.

    Args:
        first: (draws, P), the mean of the first system of each pair in each resample.
        second: (draws, P), that of the second.
    """
    share = (first > second).mean(axis=0)
    return Labels(share > 1 / 2, np.minimum(share, 1 - share))


def labels_of(draws: NDArray[np.float64], pairs: Pairs) -> Labels:
    """Return the labels that resampled means of systems give, (draws, S)."""
    first, second = pairs
    return drawn_labels(draws[:, first], draws[:, second])


def error_of_people(
    differences: NDArray[np.float64], variances: NDArray[np.float64], judgments: float
) -> float:
    """Return how often so many judgments of each system name the wrong one, averaged over pairs.

    Args:
        differences: (P,), of the systems' means, taken to be the truth.
        variances: (P,), of a judgment of the first plus one of the second system.
        judgments: of each system, above 0, a real number.
    """
    return float(_wavering(differences, np.sqrt(variances / judgments)).mean())


def _wavering(differences: NDArray[np.float64], errors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Φ(−|d| / se); ½ where there is no difference at all."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(differences == 0, 0.0, np.abs(differences) / errors)
    return np.asarray(ndtr(-ratio))


# A metric that is free of noise and of variance still errs on the pairs on which it is biased. People err
# less the more of their judgments there are. Where both err alike, the metric is worth that many judgments.
#
# Source: Wei and Jia, ACL 2021, section 6.2 and figure 3. They publish 600 judgments for BERTScore on WMT, or
# 300 of the perfect annotator.
# Worths are searched for between these, by halving.
FEWEST, MOST = 1e-6, 1e12
HALVINGS = 100


def judgments_worth(bias: float, differences: NDArray[np.float64], variances: NDArray[np.float64]) -> float:
    """Return with how many judgments of each system people err as often as a metric is biased.

    Args:
        bias: of the metric, averaged over pairs, between 0 and 1.
        differences: (P,), of the systems' means by people.
        variances: (P,), of a judgment of the first plus one of the second system.

    Returns:
        A real number; below 1 the metric is worth less than one judgment. 0 if it errs more often than a
        tossed coin, infinite if no number of judgments errs as little.
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
    """Return how often people err at each number of judgments of a system, (sizes,)."""
    return np.array([error_of_people(differences, variances, size) for size in sizes])

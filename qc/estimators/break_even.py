"""Convert the worth of a metric into judgments by people.

A metric that is free of noise and of variance still errs on the pairs on which it is biased. People err less
the more of their judgments there are. Where both err alike, the metric is worth that many judgments.

Source: Wei and Jia, ACL 2021, section 6.2 and figure 3. They publish 600 judgments for BERTScore on WMT, or
300 of the perfect annotator.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from qc.estimators.pairs import error_of_people

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

"""Design effect: the judgments of one worker correlate, so they count for fewer independent ones.

The design effect is the square of the standard error over workers, divided by the square of that which takes
all judgments to be independent. Kish, *Survey Sampling*, 1965, section 8.2.
"""

import numpy as np
from numpy.typing import NDArray

from qc.estimators.standard_error import SystemMeans, UnitShares


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

"""Choose what people rate: the probability with which each output is drawn, by what judges disagree on.

Where judges err, a rating tells most. Their error is guessed from their disagreement d, and people differ
about every output as well, so the probability is in proportion to √(D + d²), with D the mean of d². An output
on which all judges agree is then drawn at least 0.7 times as often as one of the middling kind, and its
rating does not weigh by a huge 1 / π.

Source: Zrnic and Candès, *Active statistical inference*, ICML 2024, section 3: π in proportion to the root of
the expected squared error, its mean the budget. They guard against a bad guess by a mixture with equal
probabilities (section 4); that D is added to the square is ours. The estimate weighs by 1 / π
(`qc.estimators.pool_mean`).
"""

import numpy as np
from numpy.typing import NDArray


def disagreement(metrics: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard deviation of the judges' values of each output, (N,).

    Args:
        metrics: (N, M), values of at least two judges; each is put on one scale first, of mean 0 and sd 1.
    """
    spread = metrics.std(axis=0)
    scaled = (metrics - metrics.mean(axis=0)) / np.where(spread > 0, spread, 1)
    return np.asarray(scaled.std(axis=1, ddof=1))


def rating_probabilities(disagreement: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Return the probability with which each output is drawn, (N,), with the mean `share`.

    Args:
        disagreement: (N,), 0 or more.
        share: share of the outputs that people should rate, above 0 and at most 1.
    """
    squares = disagreement**2
    size = np.sqrt(squares.mean() + squares) if squares.any() else np.ones(len(squares))
    certain = np.zeros(len(size), bool)
    while True:
        left = share * len(size) - certain.sum()
        found = left * size / size[~certain].sum() if not certain.all() else size
        more = ~certain & (found >= 1)
        if not more.any():
            return np.where(certain, 1.0, found)
        certain |= more

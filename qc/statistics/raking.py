"""Weights by which a sample has the margins of a population: iterative proportional fitting, called raking.

One field after the other, the weights of each of its groups are multiplied so that the group has its share;
again and again, until every share of every field is met to within TOLERANCE. The weights of a cell (a group
of every field at once) are then the same for all who are in it.

Sources: Deming and Stephan, *On a Least Squares Adjustment of a Sampled Frequency Table When the Expected
Marginal Totals are Known*, Annals of Mathematical Statistics 11, 1940; that it converges where weights exist
that meet all margins: Ireland and Kullback, *Contingency tables with given marginals*, Biometrika 55, 1968;
effective sample size: Kish, *Weighting for Unequal P_i*, Journal of Official Statistics 8, 1992.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Every share is met to within this before the weights are taken.
TOLERANCE = 1e-10
MOST_SWEEPS = 1000


@dataclass(frozen=True)
class Raked:
    """Weights of C cells.

    Attributes:
        weights: (C,), of each person of a cell; on average 1 over people, 0 for an empty cell.
        sweeps: how often all fields were gone through.
        gap: the largest distance of a share from what it is to be.
        converged: whether the gap is within TOLERANCE.
    """

    weights: NDArray[np.float64]
    sweeps: int
    gap: float
    converged: bool


def rake(
    counts: NDArray[np.float64], members: Sequence[NDArray[np.intp]], shares: Sequence[NDArray[np.float64]]
) -> Raked:
    """Return the weights that give every group its share of the population.

    Args:
        counts: (C,), people in each cell; at least one.
        members: of each field (C,), which of its groups a cell is of.
        shares: of each field (groups,), which add up to 1.
    """
    held, gap, sweeps = counts / counts.sum(), np.inf, 0
    while gap > TOLERANCE and sweeps < MOST_SWEEPS:
        for of_field, wanted in zip(members, shares, strict=True):
            has = np.bincount(of_field, held, len(wanted))
            held = held * (wanted / np.where(has > 0, has, 1))[of_field]
        gap = max(
            float(np.abs(np.bincount(of_field, held, len(wanted)) - wanted).max())
            for of_field, wanted in zip(members, shares, strict=True)
        )
        sweeps += 1
    weights = held * counts.sum() / np.where(counts > 0, counts, np.inf)
    return Raked(weights, sweeps, gap, gap <= TOLERANCE)


def effective_size(weights: NDArray[np.float64]) -> float:
    """Return as how many people of equal weight these count: (Σ w)² / Σ w²; 0 of none."""
    squares = float((weights**2).sum())
    return float(weights.sum()) ** 2 / squares if squares else 0.0

"""Raking (iterative proportional fitting): weight a sample so that it has the margins of a population.

For one field after the other, the weights of each group are multiplied so that the group has its share. This
is repeated until every share of every field is met to within TOLERANCE. All people in a cell (a combination
of one group of every field) have the same weight.

Sources: Deming and Stephan, *On a Least Squares Adjustment of a Sampled Frequency Table When the Expected
Marginal Totals are Known*, Annals of Mathematical Statistics 11, 1940; convergence if weights exist that meet
all margins: Ireland and Kullback, *Contingency tables with given marginals*, Biometrika 55, 1968;
effective sample size: Kish, *Weighting for Unequal P_i*, Journal of Official Statistics 8, 1992.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Largest difference of a share from its target at convergence.
TOLERANCE = 1e-10
MOST_SWEEPS = 1000


@dataclass(frozen=True)
class Raked:
    """Weights of C cells.

    Attributes:
        weights: (C,), weight of each person in a cell; mean 1 over people, 0 for an empty cell.
        sweeps: number of passes over all fields.
        gap: the largest difference of a share from its target.
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
        members: for each field (C,), the group of each cell.
        shares: for each field (groups,), the target shares, which add up to 1.
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
    """Return the effective sample size (Σ w)² / Σ w²: the number of people with equal weight; 0 for none."""
    squares = float((weights**2).sum())
    return float(weights.sum()) ** 2 / squares if squares else 0.0

"""Approximate randomisation: could two systems differ as much as they do if nobody told them apart?

If not, the two scores that a unit (a worker, say) gave might as well stand under the other system. So they
are exchanged within each unit or not, at random, and p is how often the difference gets at least as large.
Nothing is asked of how scores are distributed, and what makes one worker stricter than another does no harm.

Sources: Noreen, *Computer-Intensive Methods for Testing Hypotheses*, 1989, chapter 2 (the test, and that the
observed order counts as one of the draws); Belz and Reiter, *Comparing automatic and human evaluation of NLG
systems*, EACL 2006, which applies it within worker and item.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.statistics.noise import NOISE

# Up to so many units all exchanges are gone through: there are 2^15 = 32,768 of them.
MOST_ENUMERATED = 15
DRAWS = 9_999
# Exchanges × units that are held at a time.
BLOCK_CELLS = 2**22


@dataclass(frozen=True, slots=True)
class Randomisation:
    """What the test found of one pair of systems.

    Attributes:
        units: how many units scored both systems; only these take part.
        difference: the first system's score minus the second's, averaged over units; NaN without units.
        p: two-sided; never 0; NaN without units.
        exchanges: how many exchanges p was counted from, the observed order among them.
        exact: whether these were all there are.
    """

    units: int
    difference: float
    p: float
    exchanges: int
    exact: bool


def randomise(
    first: NDArray[np.float64], second: NDArray[np.float64], rng: np.random.Generator, draws: int = DRAWS
) -> Randomisation:
    """Return the two-sided test of two systems.

    Args:
        first: (units,), each unit's score of the first system; NaN where it did not score it.
        second: (units,), of the second.
        rng: source of the exchanges where there are too many units to go through all.
        draws: how many exchanges are drawn then.
    """
    both = np.isfinite(first) & np.isfinite(second)
    differences = first[both] - second[both]
    units = len(differences)
    if units == 0:
        return Randomisation(0, np.nan, np.nan, 0, exact=True)
    observed, exact = float(differences.mean()), units <= MOST_ENUMERATED
    if exact:
        as_far, exchanges = _as_far(differences, _all_signs(units)), 2**units
    else:
        as_far, exchanges = 1 + _drawn_as_far(differences, rng, draws), draws + 1
    return Randomisation(units, observed, as_far / exchanges, exchanges, exact)


def _all_signs(units: int) -> NDArray[np.float64]:
    """Return every way to exchange or not, (2^units, units), as −1 and 1."""
    return _signs(np.arange(2**units)[:, None] >> np.arange(units) & 1)


def _signs(bits: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.where(bits == 1, -1.0, 1.0)


def _drawn_as_far(differences: NDArray[np.float64], rng: np.random.Generator, draws: int) -> int:
    size = max(1, BLOCK_CELLS // len(differences))
    blocks = (min(size, draws - start) for start in range(0, draws, size))
    return sum(
        _as_far(differences, _signs(rng.integers(2, size=(rows, len(differences))))) for rows in blocks
    )


def _as_far(differences: NDArray[np.float64], signs: NDArray[np.float64]) -> int:
    """Return how many of the exchanges give a sum at least as far from 0; noise of sums decides nothing."""
    sums = np.abs((signs * differences).sum(axis=1))
    noise = NOISE * np.abs(differences).sum()
    return int(np.count_nonzero(sums >= abs(differences.sum()) - noise))

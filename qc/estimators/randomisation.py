"""Test by approximate randomisation, and compare the profiles of raters.

If two systems do not differ, the two scores that a unit (such as a worker) gave could be exchanged. So the
test randomly exchanges the scores within each unit or not, and p is how often the difference becomes at least
as large. The test makes no assumption about the distribution of scores, and differences in strictness between
workers do not affect it.

Sources: Noreen, *Computer-Intensive Methods for Testing Hypotheses*, 1989, chapter 2 (the test; the
observed order counts as one of the draws); Belz and Reiter, *Comparing automatic and human evaluation of NLG
systems*, EACL 2006, which applies it within worker and item.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.statistics.confidence import NOISE
from qc.statistics.correlation import pearson, pearson_of_rows


# A rater's profile is the rater's mean score of each system. The average profiles of two pools can correlate
# although single raters do not. r of the averages shows how well the pools agree; r of a rater with the
# average of a pool shows how reliable one rater is.
#
# Source: Belz and Reiter, EACL 2006, section 4 (r = .845 between the averages, .496 between a non-expert and
# the average expert). The paper does not say whether a rater is part of the average that they are compared
# with. Here they never are, because that would raise r.
@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """Agreement of the raters of one pool with the average of another pool, or of their own.

    Attributes:
        averages: r of the two average profiles; NaN within one pool.
        single: (raters,), r of each rater with the average; NaN with fewer than three common systems, or if a
            profile does not vary.
    """

    averages: float
    single: NDArray[np.float64]

    @property
    def mean(self) -> float:
        """Mean r of a single rater with the average; NaN if none is known."""
        known = self.single[np.isfinite(self.single)]
        return float(known.mean()) if len(known) else np.nan


def rater_profiles(
    values: NDArray[np.float64], raters: NDArray[np.intp], systems: NDArray[np.intp], shape: tuple[int, int]
) -> NDArray[np.float64]:
    """Return the mean of each rater's judgments of each system, (raters, S); NaN without judgments.

    Args:
        values: (rows,).
        raters: (rows,), codes from 0.
        systems: (rows,), codes from 0.
        shape: number of raters, number of systems.
    """
    cells = raters * shape[1] + systems
    counts = np.bincount(cells, minlength=shape[0] * shape[1])
    sums = np.bincount(cells, weights=values, minlength=shape[0] * shape[1])
    return np.asarray(sums / np.where(counts > 0, counts, np.nan)).reshape(shape)


def against_pool(profiles: NDArray[np.float64], other: NDArray[np.float64]) -> RaterAgreement:
    """Return the agreement of the raters of a pool with the average of another pool.

    Args:
        profiles: (raters, S), NaN if a rater did not judge a system.
        other: (raters of the other pool, S), the same systems in the same order.
    """
    average = _average(other)
    return RaterAgreement(pearson(_average(profiles), average), pearson_of_rows(profiles, average))


def within_pool(profiles: NDArray[np.float64]) -> RaterAgreement:
    """Return the agreement of each rater with the average of the other raters of the pool.

    Args:
        profiles: (raters, S), NaN if a rater did not judge a system.
    """
    known = np.isfinite(profiles)
    present = np.where(known, profiles, 0)
    counts = known.sum(axis=0) - known
    others = (present.sum(axis=0) - present) / np.where(counts > 0, counts, np.nan)
    return RaterAgreement(np.nan, pearson_of_rows(profiles, others))


def _average(profiles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the average profile, (S,), over the raters who judged each system; NaN if nobody did."""
    known = np.isfinite(profiles)
    counts = known.sum(axis=0)
    return np.asarray(np.where(known, profiles, 0).sum(axis=0) / np.where(counts > 0, counts, np.nan))


# Up to this number of units all exchanges are enumerated: 2^15 = 32,768.
MOST_ENUMERATED = 15
DRAWS = 9_999
# Exchanges × units in memory at a time.
BLOCK_CELLS = 2**22


@dataclass(frozen=True, slots=True)
class Randomisation:
    """Result of the test of one pair of systems.

    Attributes:
        units: number of units that scored both systems; only these are used.
        difference: the first system's score minus the second's, averaged over units; NaN without units.
        p: two-sided; never 0; NaN without units.
        exchanges: number of exchanges behind p, including the observed order.
        exact: whether these are all possible exchanges.
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
    """Count the exchanges whose sum is at least as far from 0, without regard to rounding noise."""
    sums = np.abs((signs * differences).sum(axis=1))
    noise = NOISE * np.abs(differences).sum()
    return int(np.count_nonzero(sums >= abs(differences.sum()) - noise))

"""One against average: do raters agree with one another, or only their averages?

A rater's profile is what he or she gave each system on average. The average profiles of two pools can go
along although single raters do not: r of the averages says how well the pools agree, r of each rater with the
average of a pool how much one rater's word is worth.

Source: Belz and Reiter, EACL 2006, section 4 (r = .845 between the averages, .496 between a non-expert and
the average expert). It leaves open whether a rater is part of the average that he or she is compared with;
here never, for that would raise r.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.statistics.correlation import pearson, pearson_of_rows


@dataclass(frozen=True, slots=True)
class Agreement:
    """How the raters of one pool agree with the average of another, or of their own.

    Attributes:
        averages: r of the two average profiles; NaN within one pool.
        single: (raters,), r of each rater with the average; NaN where fewer than three systems are known of
            both, or a profile does not vary.
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
    """Return the mean of each rater's judgments of each system, (raters, S); NaN where there is none.

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


def against_pool(profiles: NDArray[np.float64], other: NDArray[np.float64]) -> Agreement:
    """Return how the raters of a pool agree with the average of another pool.

    Args:
        profiles: (raters, S), NaN where a rater did not judge a system.
        other: (raters of the other pool, S), the same systems in the same order.
    """
    average = _average(other)
    return Agreement(pearson(_average(profiles), average), pearson_of_rows(profiles, average))


def within_pool(profiles: NDArray[np.float64]) -> Agreement:
    """Return how each rater agrees with the average of the others of the pool.

    Args:
        profiles: (raters, S), NaN where a rater did not judge a system.
    """
    known = np.isfinite(profiles)
    present = np.where(known, profiles, 0)
    counts = known.sum(axis=0) - known
    others = (present.sum(axis=0) - present) / np.where(counts > 0, counts, np.nan)
    return Agreement(np.nan, pearson_of_rows(profiles, others))


def _average(profiles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the average profile, (S,), of those raters who judged a system; NaN where nobody did."""
    known = np.isfinite(profiles)
    counts = known.sum(axis=0)
    return np.asarray(np.where(known, profiles, 0).sum(axis=0) / np.where(counts > 0, counts, np.nan))

"""Standard errors of system means and of their differences, for any clustering of judgments.

Judgments of one unit, an output or a worker, are taken to depend on one another in any way, those of
different units not at all. What a unit adds to the error of a mean is the sum of its residuals over the
number of judgments of the system; the variance of the mean is the sum of the squares of these, and that of a
difference the sum of the squares of what a unit adds to both. So a worker who is strict with both systems
adds nothing to it.

The formula, its factor U / (U − 1) for U units and its sources are in `clustered_error`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qc.estimators.clustered_error import variance_of_sums
from qc.statistics.groups import group_means

Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True, slots=True)
class SystemMeans:
    """What is known of S systems if all judgments are independent of one another.

    Attributes:
        mean: (S,).
        variance: (S,), of a judgment, with the number of judgments as divisor.
        count: (S,), judgments.
    """

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    count: NDArray[np.intp]

    @property
    def pairs(self) -> Pairs:
        """The codes of the first and the second system of all P pairs, each (P,)."""
        first, second = np.triu_indices(len(self.mean), 1)
        return first, second

    @property
    def differences(self) -> NDArray[np.float64]:
        """By how much the mean of the first system of each pair is higher, (P,)."""
        first, second = self.pairs
        return np.asarray(self.mean[first] - self.mean[second])

    @property
    def difference_errors(self) -> NDArray[np.float64]:
        """The standard errors of `differences`, (P,)."""
        first, second = self.pairs
        squares = self.variance / self.count
        return np.sqrt(squares[first] + squares[second])


def system_means(values: NDArray[np.float64], systems: NDArray[np.intp], count: int) -> SystemMeans:
    """Return the means of `count` systems.

    Args:
        values: (rows,).
        systems: (rows,), codes from 0; each of the systems occurs.
        count: S, the number of systems.
    """
    mean = group_means(values, systems, count)
    variance = group_means((values - mean[systems]) ** 2, systems, count)
    return SystemMeans(mean, variance, np.bincount(systems, minlength=count))


@dataclass(frozen=True, slots=True)
class UnitShares:
    """What each of U units adds to the errors of the means of S systems.

    Attributes:
        shares: (U, S), sums of residuals over the number of judgments of the system.
        present: (U, S), whether the unit has a judgment of the system.
    """

    shares: NDArray[np.float64]
    present: NDArray[np.bool_]

    @property
    def mean_errors(self) -> NDArray[np.float64]:
        """Standard errors of the means, (S,), with the factor U / (U − 1); NaN for fewer than two units."""
        return np.sqrt(variance_of_sums(self.shares, self.present))

    def difference_errors(self, pairs: Pairs) -> NDArray[np.float64]:
        """Return standard errors of differences, (P,), with the factor U / (U − 1); NaN as above."""
        first, second = pairs
        either = self.present[:, first] | self.present[:, second]
        return np.sqrt(variance_of_sums(self.shares[:, first] - self.shares[:, second], either))

    def plain_difference_errors(self, pairs: Pairs) -> NDArray[np.float64]:
        """Return the same without the factor, as Wei and Jia's bootstrap of outputs has it."""
        first, second = pairs
        squares: NDArray[np.float64] = ((self.shares[:, first] - self.shares[:, second]) ** 2).sum(axis=0)
        return np.sqrt(squares)


def unit_shares(
    values: NDArray[np.float64], systems: NDArray[np.intp], units: NDArray[np.intp], count: int
) -> UnitShares:
    """Return what each unit adds; the arguments are those of `system_means`.

    Args:
        values: (rows,).
        systems: (rows,), codes from 0; each of the systems occurs.
        units: (rows,), codes from 0 of outputs or workers.
        count: S, the number of systems.
    """
    means = group_means(values, systems, count)
    sizes = np.bincount(systems, minlength=count)
    shape = (int(units.max()) + 1, count)
    cells = units * count + systems
    added = (values - means[systems]) / sizes[systems]
    shares = np.bincount(cells, weights=added, minlength=shape[0] * count).astype(np.float64)
    present = np.bincount(cells, minlength=shape[0] * count) > 0
    return UnitShares(shares.reshape(shape), present.reshape(shape))

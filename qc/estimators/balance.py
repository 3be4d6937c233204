"""Measure how far a run is from a repeated Latin square.

With S systems and a multiple of S raters such a design lets every rater see each item once and each system
equally often; every item is judged with every system equally often; and each system stands at each position
equally often. Then no system profits from lenient raters, easy items or early places.

Source: Belz and Reiter, EACL 2006, section 3.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Imbalance:
    """How often the cells of a table of counts were met.

    Attributes:
        cells: how many there are.
        fewest: the smallest count.
        most: the largest; a balanced design has the same.
    """

    cells: int
    fewest: int
    most: int

    @property
    def difference(self) -> int:
        """0 where the design is balanced."""
        return self.most - self.fewest


def imbalance(rows: NDArray[np.intp], columns: NDArray[np.intp], shape: tuple[int, int]) -> Imbalance:
    """Return how evenly judgments are spread over all combinations of two codes.

    Args:
        rows: (judgments,), codes from 0: of raters, items or positions.
        columns: (judgments,), codes from 0: of systems, say.
        shape: how many codes there are of each.
    """
    counts = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1])
    return Imbalance(counts.size, int(counts.min()), int(counts.max()))

"""A part of the benchmark: designs, and what is counted in each run that is made up by one of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

# How many of how many; none of 0 where a run has nothing to count.
Counted = tuple[float, int]
Count = Callable[[int], Mapping[str, Counted]]
LEVEL = 0.05


@dataclass(frozen=True)
class Part:
    """Designs that are counted alike.

    Attributes:
        title: what stands over its table.
        designs: key → name, as a row is headed.
        columns: what is counted; those that a run of a design has nothing of stay empty in its row.
        counting: takes the key of a design, finds its truth, and returns what counts the run of a number. It
            is called once per process and design.
    """

    title: str
    designs: Mapping[str, str]
    columns: tuple[str, ...]
    counting: Callable[[str], Count]


def row(name: str, columns: Sequence[str], counts: Iterable[Mapping[str, Counted]]) -> str:
    """Return the row of a table: of each column the share, in per cent, over all runs."""
    totals = dict.fromkeys(columns, (0.0, 0))
    for of_run in counts:
        for column, (hits, of) in of_run.items():
            totals[column] = totals[column][0] + hits, totals[column][1] + of
    cells = [f"{100 * hits / of:.1f}" if of else "" for hits, of in totals.values()]
    return f"| {name} | {' | '.join(cells)} |"


def held(low: NDArray[np.float64], high: NDArray[np.float64], truth: NDArray[np.float64]) -> Counted:
    """Count the known intervals that hold the truth."""
    known = np.isfinite(low)
    return float(((low <= truth) & (truth <= high))[known].sum()), int(known.sum())


def below(p: ArrayLike) -> Counted:
    """Count the p-values below LEVEL."""
    made = np.asarray(p, np.float64)
    return float((made < LEVEL).sum()), int(np.isfinite(made).sum())


def any_below(p: ArrayLike) -> Counted:
    """Return whether any is."""
    return min(below(p)[0], 1.0), 1

"""A part of the benchmark: designs, and what is counted in each run that is made up by one of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qc.robustness.context import Effect

# How many of how many; none of 0 where a run has nothing to count.
Counted = tuple[float, int]
Count = Callable[[int], Mapping[str, Counted]]
LEVEL = 0.05


@dataclass(frozen=True)
class Part:
    """Designs whose runs are made up once, and counted for one table or several.

    Attributes:
        tables: title → columns, what is counted. A design of which a table has nothing has no row in it, and
            a column that it has nothing of stays empty.
        designs: key → name, as a row is headed.
        counting: takes the key of a design, finds its truth, and returns what counts the run of a number. It
            is called once per process and design.
        most_runs: of each design; what takes seconds a run, and is no share, has fewer than other parts.
    """

    tables: Mapping[str, tuple[str, ...]]
    designs: Mapping[str, str]
    counting: Callable[[str], Count]
    most_runs: int | None = None

    def runs(self, wanted: int) -> int:
        """Return how many runs there are of each design."""
        return wanted if self.most_runs is None else min(wanted, self.most_runs)


def summed(counts: Iterable[Mapping[str, Counted]]) -> dict[str, Counted]:
    """Return what was counted in all runs together."""
    totals: dict[str, Counted] = {}
    for of_run in counts:
        for column, (hits, of) in of_run.items():
            before = totals.get(column, (0.0, 0))
            totals[column] = before[0] + hits, before[1] + of
    return totals


def table(runs: int, columns: Sequence[str], rows: Mapping[str, Mapping[str, Counted]]) -> str:
    """Return a table in Markdown: of each row, by its name, the share of each column in per cent.

    Empty if no row has anything.
    """
    head = [
        f"| {runs:,} runs of each design; per cent | {' | '.join(columns)} |",
        f"|---|{'---:|' * len(columns)}",
    ]
    lines = []
    for name, totals in rows.items():
        cells = [totals.get(column, (0.0, 0)) for column in columns]
        if any(of for _, of in cells):
            shares = [f"{100 * hits / of:.1f}" if of else "" for hits, of in cells]
            lines.append(f"| {name} | {' | '.join(shares)} |")
    return "\n".join([*head, *lines]) if lines else ""


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


def without_nought(effect: Effect) -> Counted:
    """Count the intervals of an effect's levels that do not hold 0."""
    low, high = np.array([(level.low, level.high) for level in effect.levels]).T
    hits, of = held(low, high, np.zeros(len(low)))
    return of - hits, of

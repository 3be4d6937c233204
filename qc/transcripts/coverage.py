"""Count the workers who judged each item, on which every estimate of spread rests."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.number_format import whole


@dataclass(frozen=True)
class Coverage:
    """Workers per item.

    Attributes:
        items: number of items that somebody rated as ordinary ones.
        table: `raters` (int), `items` (int: rated by so many workers), `items_passed` (int: by so many who
            passed); from the fewest to the most that occur.
        notes: sentences that a reader must see.
    """

    items: int
    table: pd.DataFrame
    notes: tuple[str, ...]


def describe_coverage(sample: Sample) -> Coverage:
    """Return how many workers judged each item, all and those who passed."""
    everybody, passed = (_raters(sample, rows) for rows in (~sample.is_qc, sample.counted))
    of_passed = passed.reindex(everybody.index, fill_value=0)
    numbers = np.union1d(everybody.unique(), of_passed.unique())
    table = pd.DataFrame(
        {
            "raters": numbers,
            "items": [int((everybody == number).sum()) for number in numbers],
            "items_passed": [int((of_passed == number).sum()) for number in numbers],
        }
    )
    return Coverage(len(everybody), table, tuple(_notes(everybody, of_passed)))


def _raters(sample: Sample, rows: NDArray[np.bool_]) -> pd.Series:
    """Return the number of different workers for each item code that occurs among `rows` of the sample."""
    table = pd.DataFrame({"item": np.asarray(sample.items)[rows], "worker": sample.workers[rows]})
    return table.groupby("item")["worker"].nunique()


def _notes(everybody: pd.Series, passed: pd.Series) -> list[str]:
    notes = []
    if everybody.min() != everybody.max():
        notes.append(
            f"Items were not rated by equally many workers: {whole(everybody.min())} to "
            f"{whole(everybody.max())} each. Every item weighs the same in its system’s score, so a worker’s "
            "word counts for more where there are few."
        )
    lost = int((passed == 0).sum())
    if lost and lost < len(passed):
        notes.append(f"Items that no worker who passed rated, so not in the scores: {whole(lost)}.")
    if everybody.max() < 2:
        notes.append(
            "No item was rated by two workers, so it cannot be told how far they differ on one and the same."
        )
    return notes

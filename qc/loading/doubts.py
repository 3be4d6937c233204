"""Find implausible things in a run, and say them in sentences for the reader of its results."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.number_format import listed, whole
from qc.run import Run, codes
from qc.statistics.groups import distinct

DAY = 86_400.0
NAMED = 5
# Different ratings that an assignment must have before one like it is taken for a copy: workers who rate all
# alike can be equal by chance.
FEWEST_DIFFERENT = 5


def doubts(run: Run) -> list[str]:
    """Return a sentence for each kind of doubt: copied conversations, impossible working times."""
    return [*_copied(run), *_times(run)]


def _copied(run: Run) -> list[str]:
    owner = codes(run.conversations["assignment"])
    ratings = run.ratings.to_numpy(np.float64)
    if run.items is not None or not len(owner):
        return []
    varied = _different(ratings, owner, len(run.assignments)) >= FEWEST_DIFFERENT
    content = pd.Series(_digests(run, ratings, owner))
    copies = (content.duplicated() & varied).to_numpy()
    names = run.assignments["assignment"]
    first = dict(zip(content[::-1], names[::-1], strict=True))
    pairs = [f"{names[i]} as {first[content[i]]}" for i in np.flatnonzero(copies)[:NAMED].tolist()]
    if not pairs:
        return []
    count = int(copies.sum())
    return [
        f"The same conversations with the same ratings stand under a second assignment, and count again: "
        f"{whole(count)} assignment{'s' if count > 1 else ''} ({listed(pairs, NAMED)}"
        f"{' and more' if count > NAMED else ''}). If they were copied, take them out."
    ]


def _digests(run: Run, ratings: NDArray[np.float64], owner: NDArray[np.intp]) -> NDArray[np.uint64]:
    """Return a number for each assignment, equal for equal systems and ratings in the same order."""
    frame = pd.DataFrame(ratings)
    frame["system"], frame["position"] = codes(run.conversations["system"]), run.conversations["position"]
    rows = pd.util.hash_pandas_object(frame, index=False).to_numpy(np.uint64)
    sums = np.zeros(len(run.assignments), np.uint64)
    np.add.at(sums, owner, rows)  # whole numbers, so in any order
    return sums


def _different(ratings: NDArray[np.float64], owner: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Return how many different ratings each assignment has by their first seven digits, NaN not counted."""
    rated = ~np.isnan(ratings)
    owners = np.repeat(owner, rated.sum(axis=1)).astype(np.int64)
    # The bits of a rating below those of the assignment: one whole number, which is sorted in a tenth of the
    # time that a table of both takes.
    values = ratings[rated].astype(np.float32).view(np.uint32)
    return np.bincount(distinct(owners << 32 | values) >> 32, minlength=count)


def _times(run: Run) -> list[str]:
    seconds = run.assignments["seconds"].to_numpy(np.float64)
    none, long = int((seconds == 0).sum()), seconds[seconds > DAY]
    notes = []
    if none:
        notes.append(f"Working time 0 s, so hardly measured, but in the means: {whole(none)} assignments.")
    if len(long):
        notes.append(
            f"Working time above a day, which moves every mean of times: {whole(len(long))} assignments, the "
            f"longest {whole(float(long.max()) / 3600)} hours."
        )
    return notes

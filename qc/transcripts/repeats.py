"""Agreement of workers with themselves, on items rated twice in an assignment.

Source: Ji, PhD thesis, chapter 3, table 3.7: κ over all pairs, for scales cut into 10, 5, 4 and 2 categories.
A worker who hardly moves the sliders has a high agreement with themselves. So κ is shown together with each
worker's correlation and the standard deviation of their ratings.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.filter import Screening
from qc.method.standardise import as_given, scale_maximum
from qc.run import Run, codes
from qc.statistics.correlation import Kappa, kappa, pearson
from qc.transcripts.twins import twins

CATEGORIES = (10, 5, 4, 2)


@dataclass(frozen=True)
class SelfAgreement:
    """Agreement of items with their repeats in one group of workers.

    Attributes:
        kappas: κ for each of CATEGORIES, over all pairs and criteria.
        r: (workers,), Pearson's r of each worker's pairs, ascending, for workers who have an r.
        without_r: number of workers with pairs but without r: fewer than 3 pairs, or constant ratings.
    """

    kappas: tuple[Kappa, ...]
    r: NDArray[np.float64]
    without_r: int

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """The quartiles of `r`; NaN if there is none."""
        if not len(self.r):
            return (float("nan"),) * 3
        low, middle, high = np.quantile(self.r, [0.25, 0.5, 0.75]).tolist()
        return low, middle, high


@dataclass(frozen=True)
class Repeats:
    """Agreement of workers with themselves.

    Attributes:
        passed, failed: agreement of workers who passed, and who failed.
        workers: `worker` (str), `passed` (bool), `pairs` (int: ratings of repeats, over all criteria), `r`
            (float), `distance` (float: mean distance of the two ratings), `sd` (float: standard deviation of
            all ratings of the worker), by worker; only workers with a repeat.
    """

    passed: SelfAgreement
    failed: SelfAgreement
    workers: pd.DataFrame


def describe_repeats(run: Run, screening: Screening) -> Repeats | None:
    """Return workers' agreement with themselves; None if nobody rated a repeat and its item."""
    pairs = twins(run, "repeat")
    if not len(pairs.control):
        return None
    given, maximum = as_given(run), scale_maximum(run)
    owner = np.repeat(codes(run.conversations["worker"])[pairs.control], given.shape[1])
    first, second = given[pairs.ordinary].ravel(), given[pairs.control].ravel()
    table = _workers(run, screening, owner, (first, second))
    kept = screening.keeps(owner)
    groups = []
    for rows, passed in ((kept, True), (~kept, False)):
        r = table.loc[table["passed"] == passed, "r"]
        kappas = tuple(kappa(first[rows], second[rows], maximum, n) for n in CATEGORIES)
        groups.append(SelfAgreement(kappas, np.sort(r.dropna().to_numpy(np.float64)), int(r.isna().sum())))
    return Repeats(groups[0], groups[1], table)


def _workers(
    run: Run,
    screening: Screening,
    owner: NDArray[np.intp],
    ratings: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> pd.DataFrame:
    """Return a row for each worker who rated repeats; `ratings` are the two of each pair, both (pairs,)."""
    everything, everyone = as_given(run), codes(run.conversations["worker"])
    rows = []
    for worker in np.unique(owner):
        one, other = (values[owner == worker] for values in ratings)
        of_worker = np.sort(everything[everyone == worker], axis=None)
        rows.append(
            {
                "worker": screening.workers["worker"].iloc[worker],
                "passed": bool(screening.workers["passed"].iloc[worker]),
                "pairs": len(one),
                "r": pearson(one, other),
                "distance": float(np.sort(np.abs(one - other)).mean()),
                "sd": float(of_worker.std(ddof=1)),
            }
        )
    return pd.DataFrame(rows)

"""Check the control items (bad twins, references) and the agreement of workers with themselves.

Source: Ji, PhD thesis, chapter 3. References do not filter workers: a minimum score for them had no effect
there.

Source: Ji, PhD thesis, chapter 3, table 3.7: κ over all pairs, for scales cut into 10, 5, 4 and 2 categories.
A worker who hardly moves the sliders has a high agreement with themselves. So κ is shown together with each
worker's correlation and the standard deviation of their ratings.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.filter import Screening
from qc.method.sample import Sample, as_given, oriented, scale_maximum
from qc.run import ITEM_KINDS, ItemKind, Run, codes
from qc.statistics.confidence import t_interval
from qc.statistics.correlation import Kappa, kappa, kendall, pearson, spearman
from qc.statistics.groups import group_means
from qc.table import between, decimal, whole
from qc.transcripts.filter import of_kind, twins
from qc.transcripts.judgments import standardised


@dataclass(frozen=True)
class Coverage:
    """Workers per item.

    Attributes:
        items: number of rated ordinary items.
        table: `raters` (int), `items` (int: number of items with this number of raters), `items_passed` (int:
            the same, counting only raters who passed); from the smallest to the largest number of raters.
        notes: sentences that a reader must see.
    """

    items: int
    table: pd.DataFrame
    notes: tuple[str, ...]


def describe_coverage(sample: Sample) -> Coverage:
    """Return the distribution of workers per item, for all workers and for those who passed."""
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
    return Coverage(len(everybody), table, tuple(_coverage_notes(everybody, of_passed)))


def _raters(sample: Sample, rows: NDArray[np.bool_]) -> pd.Series:
    """Return the number of different workers for each item code that occurs among `rows` of the sample."""
    table = pd.DataFrame({"item": np.asarray(sample.items)[rows], "worker": sample.workers[rows]})
    return table.groupby("item")["worker"].nunique()


def _coverage_notes(everybody: pd.Series, passed: pd.Series) -> list[str]:
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


@dataclass(frozen=True)
class Controls:
    """Scores of each kind of item, and their distance from ordinary items.

    Attributes:
        table: `group` ("passed" or "failed"), `kind`, `workers` (int: number who rated such items), `ratings`
            (int: number of such items that they rated), `raw` and `z` (float: overall, mean over workers of
            each worker's mean), `difference` (float: mean over workers of each worker's mean raw difference
            from the ordinary items that these belong to; a reference without one is compared with all
            ordinary items of the worker), `low`, `high` (float: its interval, for other workers). NaN without
            data, and in the last three columns for ordinary items.
        by_worker: `worker` (str), then a column (float) per kind: the worker's mean raw score, or NaN.
        notes: sentences that a reader must see.
    """

    table: pd.DataFrame
    by_worker: pd.DataFrame
    notes: tuple[str, ...]


def describe_controls(run: Run, sample: Sample) -> Controls:
    """Return the scores of the kinds of items, in each group of workers."""
    scores, workers = oriented(run), codes(run.conversations["worker"])
    count = len(sample.screening.workers)
    z = standardised(scores, workers, sample.screening).mean(axis=1)
    raw = scores.mean(axis=1)
    distance = raw - _ordinary(run, raw, workers, count)
    passed = sample.screening.workers["passed"].to_numpy(bool)
    rows: list[dict[str, object]] = []
    by_worker: dict[str, NDArray[np.float64]] = {}
    for kind in ITEM_KINDS:
        there = of_kind(run, kind)
        means = [
            group_means(values[there], workers[there], count)
            for values in (raw, z, distance if kind != "ordinary" else np.full(len(raw), np.nan))
        ]
        by_worker[kind] = means[0]
        if there.any():
            rows += [
                {
                    "group": group,
                    "kind": kind,
                    "workers": int(np.isfinite(means[0][members]).sum()),
                    "ratings": int((there & members[workers]).sum()),
                    "raw": _mean(means[0][members]),
                    "z": _mean(means[1][members]),
                    **_estimate(means[2][members]),
                }
                for group, members in (("passed", passed), ("failed", ~passed))
            ]
    table = pd.DataFrame(rows).sort_values("group", ascending=False, kind="stable", ignore_index=True)
    own = pd.DataFrame({"worker": sample.screening.workers["worker"], **by_worker})
    return Controls(table, own, tuple(_notes(table)))


def _ordinary(
    run: Run, raw: NDArray[np.float64], workers: NDArray[np.intp], count: int
) -> NDArray[np.float64]:
    """Return, (presentations,), the score that a control item is compared with."""
    ordinary = of_kind(run, "ordinary")
    against = group_means(raw[ordinary], workers[ordinary], count)[workers]
    kinds: tuple[ItemKind, ...] = ("bad", "repeat", "reference")
    for kind in kinds:
        pairs = twins(run, kind)
        against[pairs.control] = raw[pairs.ordinary]
    return against


def _estimate(values: NDArray[np.float64]) -> dict[str, float]:
    """Return the mean of the known `values`, one per worker, with its interval."""
    known = np.sort(values[np.isfinite(values)])
    error = known.std(ddof=1) / np.sqrt(len(known)) if len(known) > 1 else np.nan
    low, high = t_interval(np.array(_mean(values)), np.array(error), len(known) - 1)
    return {"difference": _mean(values), "low": float(low), "high": float(high)}


def _mean(values: NDArray[np.float64]) -> float:
    known = np.sort(values[np.isfinite(values)])
    return float(known.mean()) if len(known) else float("nan")


def _notes(table: pd.DataFrame) -> list[str]:
    found = table[(table["group"] == "passed") & (table["kind"] == "reference") & (table["workers"] > 0)]
    return [
        "References should score clearly higher than ordinary items; with the workers who passed they do not "
        f"(difference {decimal(row['difference'], 1)}, 95 % interval "
        f"{between(row['low'], row['high'], 1)}). Look at the references before quoting a score."
        for row in found.to_dict("records")
        if not row["low"] > 0
    ]


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
        workers: `worker` (str), `passed` (bool), `pairs` (int: ratings of repeats, over all criteria), `r`,
            `rho`, `tau` (float: Pearson, Spearman, Kendall), `distance` (float: mean distance of the two
            ratings), `sd` (float: standard deviation of all ratings of the worker), by worker; only workers
            with a repeat.
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
                "rho": spearman(one, other),
                "tau": kendall(one, other),
                "distance": float(np.sort(np.abs(one - other)).mean()),
                "sd": float(of_worker.std(ddof=1)),
            }
        )
    return pd.DataFrame(rows)

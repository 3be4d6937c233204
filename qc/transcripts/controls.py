"""Whether control items did what they are for: bad twins should score low, references high, repeats alike.

Source: Ji, PhD thesis, section 3.4. References decide nothing: a floor on them changed nothing there.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.method.sample import Sample
from qc.method.standardise import oriented, standardise
from qc.number_format import between, decimal
from qc.run import ITEM_KINDS, ItemKind, Run, codes
from qc.statistics.confidence import t_interval
from qc.statistics.groups import group_means
from qc.transcripts.twins import of_kind


@dataclass(frozen=True)
class Controls:
    """What each kind of item scored, and how far from the ordinary ones.

    Attributes:
        table: `group` ("passed" or "failed"), `kind`, `workers` (int: who rated such items), `ratings` (int: such
            items on their screens), `raw` and `z` (float: mean over workers of each worker's mean, overall),
            `difference` (float: mean over workers of the worker's mean raw score of the kind minus that of ordinary
            items), `low`, `high` (float: its interval, workers taken as drawn from many; NaN below two workers).
        by_worker: `worker` (str), then a column (float) per kind: the worker's mean raw score; NaN without any.
        notes: sentences that a reader must see.
    """

    table: pd.DataFrame
    by_worker: pd.DataFrame
    notes: tuple[str, ...]


def describe_controls(run: Run, sample: Sample) -> Controls:
    """Return what the kinds of items scored, in each group of workers."""
    scores, workers = oriented(run), codes(run.conversations["worker"])
    count = len(sample.screening.workers)
    overall = {"raw": scores.mean(axis=1), "z": standardise(scores, workers, count).mean(axis=1)}
    rows = {kind: of_kind(run, kind) for kind in ITEM_KINDS}
    means: dict[str, dict[ItemKind, NDArray[np.float64]]] = {
        scale: {kind: group_means(values[there], workers[there], count) for kind, there in rows.items()}
        for scale, values in overall.items()
    }
    passed = sample.screening.workers["passed"].to_numpy(bool)
    table = pd.DataFrame(
        [
            _row(group, kind, members, means, int((rows[kind] & members[workers]).sum()))
            for group, members in (("passed", passed), ("failed", ~passed))
            for kind in ITEM_KINDS
            if rows[kind].any()
        ]
    )
    by_worker = pd.DataFrame(means["raw"])
    by_worker.insert(0, "worker", sample.screening.workers["worker"])
    return Controls(table, by_worker, tuple(_notes(table)))


def _row(
    group: str,
    kind: ItemKind,
    members: NDArray[np.bool_],
    means: dict[str, dict[ItemKind, NDArray[np.float64]]],
    ratings: int,
) -> dict[str, object]:
    difference = (means["raw"][kind] - means["raw"]["ordinary"])[members]
    known = np.sort(difference[np.isfinite(difference)])
    mean = _mean(known)
    error = known.std(ddof=1) / np.sqrt(len(known)) if len(known) > 1 else np.nan
    low, high = t_interval(np.array(mean), np.array(error), len(known) - 1)
    return {
        "group": group,
        "kind": kind,
        "workers": int(np.isfinite(means["raw"][kind][members]).sum()),
        "ratings": ratings,
        **{scale: _mean(means[scale][kind][members]) for scale in ("raw", "z")},
        "difference": mean if kind != "ordinary" else np.nan,
        "low": float(low) if kind != "ordinary" else np.nan,
        "high": float(high) if kind != "ordinary" else np.nan,
    }


def _mean(values: NDArray[np.float64]) -> float:
    known = np.sort(values[np.isfinite(values)])
    return float(known.mean()) if len(known) else float("nan")


def _notes(table: pd.DataFrame) -> list[str]:
    found = table[(table["group"] == "passed") & (table["kind"] == "reference") & (table["workers"] > 0)]
    return [
        "References should score clearly higher than ordinary items, and with the workers who passed they do not "
        f"(difference {decimal(row['difference'], 1)}, 95 % interval {between(row['low'], row['high'], 1)}): look at the "
        "references before quoting a score."
        for row in found.to_dict("records")
        if not row["low"] > 0
    ]

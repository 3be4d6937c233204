"""Compare a run with its self-replication.

Source: Ji et al., ACL 2022, the section on self-replication: correlations between the system scores of two
runs with fresh workers, and the share of pairs of systems about which both runs draw the same conclusion.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.errors import ReplicationError
from qc.method.filter import nobody_passed
from qc.method.sample import Sample
from qc.method.scores import Scores, score
from qc.method.significance import Significance, compare_systems
from qc.run import Run
from qc.statistics.confidence import LEVEL
from qc.statistics.correlation import CorrelationInterval, interval_of_r, kendall, pearson, spearman

FEWEST_SYSTEMS = 3
# Level of significance when the conclusions of two runs are compared.
ALPHA = 0.1


@dataclass(frozen=True, slots=True)
class Correlations:
    """Correlations of the system scores of two runs; keys are "overall" and the labels of the criteria.

    NaN with fewer than 3 systems, or if all of them score the same in one run.
    """

    pearson: dict[str, float]
    spearman: dict[str, float]
    kendall: dict[str, float]


@dataclass(frozen=True, slots=True)
class SameConclusions:
    """Number of pairs of systems with the same conclusion in both runs: `n` of `of` pairs.

    The conclusion is which system is better, or that neither is.

    A system is better than another if the one-sided test gives p < `alpha`.
    """

    n: int
    of: int
    alpha: float


@dataclass(frozen=True)
class Replication:
    """Agreement of a second run with the first.

    Attributes:
        name: name of the second run.
        systems: the compared systems, in the order of the first run's scores.
        labels: the criteria compared, in the order of the first run; "overall" is the mean over these.
        z: correlations of the standardised scores.
        overall_interval: 95 % interval of Pearson's r of the overall z, over the systems; NaN with fewer
            than 4 of them.
        raw: correlations of the raw scores.
        same_conclusions: pairs of systems on which the two runs agree.
        shared_workers: number of workers who took part in both runs.
        without_shared, without_shared_raw: `z` and `raw` with the conversations of those workers left out of
            both runs; None if there are no such workers.
        points: `system`, `first`, `second` (float: overall z in each run), in the order of `systems`.
        notes: sentences that a reader of the comparison must see.
    """

    name: str
    systems: tuple[str, ...]
    labels: tuple[str, ...]
    z: Correlations
    overall_interval: CorrelationInterval
    raw: Correlations
    same_conclusions: SameConclusions
    shared_workers: int
    without_shared: Correlations | None
    without_shared_raw: Correlations | None
    points: pd.DataFrame
    notes: tuple[str, ...]


def replicate(sample: Sample, other: Sample, *, fewest: int = FEWEST_SYSTEMS) -> Replication:
    """Compare `other`, a second run, with the first.

    Systems and criteria of only one run are left out, and so are systems without a kept conversation in one
    run. Each worker's ratings stay standardised over everything that they rated in their run.

    Args:
        sample: the first run.
        other: the second.
        fewest: smallest number of common systems for a comparison; correlations of fewer than 3 are NaN.

    Raises:
        ReplicationError: the runs have fewer than `fewest` systems, or no criterion, in common.
    """
    _validate(sample.run, other.run, fewest)
    labels = [label for label in _labels(sample.run) if label in _labels(other.run)]
    runs = (limited(sample, labels), limited(other, labels))
    first, second = (score(run) for run in runs)
    systems = _scored_in_both(first, second)
    shared = set(sample.screening.workers["worker"]) & set(other.screening.workers["worker"])
    z, raw = _correlations_in_both(first, second)
    unshared = (score(_unkept(run, shared)) for run in runs)
    without = _correlations_in_both(*unshared) if shared else (None, None)
    return Replication(
        name=other.run.name,
        systems=tuple(systems),
        labels=tuple(labels),
        z=z,
        overall_interval=interval_of_r(z.pearson["overall"], len(systems), LEVEL),
        raw=raw,
        same_conclusions=_same_conclusions(runs, (first, second), systems),
        shared_workers=len(shared),
        without_shared=without[0],
        without_shared_raw=without[1],
        points=pd.DataFrame(
            {
                "system": pd.Series(systems, dtype=str),
                "first": _column(first.z, "overall", systems),
                "second": _column(second.z, "overall", systems),
            }
        ),
        notes=(
            *_differences(sample.run, other.run),
            *_nobody_passed(other),
            *_unscored(first, second, systems),
        ),
    )


def _validate(first: Run, second: Run, fewest: int) -> None:
    for what, of, needed in (("systems", _systems, fewest), ("criteria", _labels, 1)):
        common = [name for name in of(first) if name in of(second)]
        if len(common) < needed:
            raise ReplicationError(
                f"The runs cannot be compared: {len(common)} {what} in common, {needed} or more are needed.\n"
                f"  {first.name} ({first.source}) has {_listing(of(first))}.\n"
                f"  {second.name} ({second.source}) has {_listing(of(second))}.\n"
                f"Give a second run of the same {what}, named alike."
            )


def _systems(run: Run) -> list[str]:
    return run.systems.loc[run.competing, "system"].to_list()


def _labels(run: Run) -> list[str]:
    return run.criteria["label"].to_list()


def _listing(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def limited(sample: Sample, labels: list[str]) -> Sample:
    """Return `sample` with the criteria `labels` only, in that order."""
    own = _labels(sample.run)
    if own == labels:
        return sample
    columns = [own.index(label) for label in labels]
    criteria = sample.run.criteria.iloc[columns].reset_index(drop=True)
    return replace(
        sample,
        run=replace(sample.run, criteria=criteria, ratings=sample.run.ratings[labels]),
        raw=np.take(sample.raw, columns, axis=1),
        z=np.take(sample.z, columns, axis=1),
    )


def _scored_in_both(first: Scores, second: Scores) -> list[str]:
    there = set(second.z.loc[second.z["n"] > 0, "system"])
    return [system for system in first.z.loc[first.z["n"] > 0, "system"] if system in there]


def _correlations_in_both(first: Scores, second: Scores) -> tuple[Correlations, Correlations]:
    """Return the correlations of z and of raw scores, over the systems with a score in both runs."""
    systems = _scored_in_both(first, second)
    return _correlations(first.z, second.z, systems), _correlations(first.raw, second.raw, systems)


def _correlations(first: pd.DataFrame, second: pd.DataFrame, systems: list[str]) -> Correlations:
    pairs = {
        name: (_column(first, name, systems), _column(second, name, systems))
        for name in first.columns.drop(["system", "n"])
    }
    return Correlations(
        pearson={name: pearson(*pair) for name, pair in pairs.items()},
        spearman={name: spearman(*pair) for name, pair in pairs.items()},
        kendall={name: kendall(*pair) for name, pair in pairs.items()},
    )


def _column(table: pd.DataFrame, name: str, systems: list[str]) -> NDArray[np.float64]:
    return table.set_index("system").loc[systems, name].to_numpy(np.float64)


def _same_conclusions(
    runs: tuple[Sample, Sample], scores: tuple[Scores, Scores], systems: list[str]
) -> SameConclusions:
    first, second = (_verdicts(compare_systems(*run), systems) for run in zip(runs, scores, strict=True))
    same = (first == second)[np.triu_indices(len(systems), k=1)]
    return SameConclusions(int(same.sum()), len(same), ALPHA)


def _verdicts(significance: Significance, systems: list[str]) -> NDArray[np.int64]:
    """Return, for each row and column, 1 if the row is better, -1 if the column is, 0 if neither."""
    rows = [significance.systems.index(system) for system in systems]
    better = significance.conclusions(ALPHA)[np.ix_(rows, rows)].astype(np.int64)
    return better - better.T


def _unkept(sample: Sample, workers: set[str]) -> Sample:
    """Return `sample` as if `workers` had not passed."""
    table = sample.screening.workers
    passed = table["passed"] & ~table["worker"].isin(workers)
    return replace(sample, screening=replace(sample.screening, workers=table.assign(passed=passed)))


def _differences(first: Run, second: Run) -> list[str]:
    """Describe in sentences how systems and criteria of the runs differ."""
    return [
        *_tasks(first, second),
        *_left_out("systems", _systems(first), _systems(second)),
        *_left_out("criteria", _labels(first), _labels(second)),
        *_changed(first, second, "negative", "Negative in one run only, so reversed only there"),
        *_changed(
            first,
            second,
            "counts_for_qc",
            "Counted for quality control in one run only, so workers were not filtered alike",
        ),
        *_changed(first, second, "maximum", "Not on the same scale in both runs, so raw scores differ"),
    ]


def _tasks(first: Run, second: Run) -> list[str]:
    if (first.items is None) == (second.items is None):
        return []
    return [
        "In one run workers rated conversations that they had held, in the other texts that they had read, "
        "so this compares two methods rather than repeating one."
    ]


def _left_out(what: str, first: list[str], second: list[str]) -> list[str]:
    alone = {
        "first": [name for name in first if name not in second],
        "second": [name for name in second if name not in first],
    }
    return [
        f"Only in the {run} run, so left out of the comparison: {what} {_listing(names)}."
        for run, names in alone.items()
        if names
    ]


def _changed(first: Run, second: Run, column: str, sentence: str) -> list[str]:
    own, other = (run.criteria.set_index("label")[column] for run in (first, second))
    labels = [label for label in own.index if label in other.index and own[label] != other[label]]
    return [f"{sentence}: criteria {_listing(labels)}."] if labels else []


def _nobody_passed(other: Sample) -> list[str]:
    why = nobody_passed(other.run, other.screening)
    return [] if why is None else [f"The second run: {why}"]


def _unscored(first: Scores, second: Scores, systems: list[str]) -> list[str]:
    common = first.z.loc[first.z["system"].isin(second.z["system"]), "system"]
    names = [name for name in common if name not in systems]
    if not names:
        return []
    return [
        f"Without a kept conversation in one of the runs, so left out of the comparison: {_listing(names)}."
    ]

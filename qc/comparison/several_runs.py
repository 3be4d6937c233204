"""Compare several runs of one experiment: their scores side by side, and the agreement of each pair.

Source: Ji et al., ACL 2022, the section on self-replication; thesis, chapter 5: the tables that compare the
opinions, counts and scores of runs. The intervals of the correlations are ours
(`qc.statistics.correlation`): they are over systems, which are assumed to be drawn from a normal
distribution.

Resampling the workers would not work here. It adds noise to scores that are noisy already, so the resampled
correlations, and with them the interval, would be too low.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qc.analysis import sample_of
from qc.errors import OptionError, ReplicationError, about_run
from qc.method.replication import Replication, replicate
from qc.method.sample import Sample, pass_rates
from qc.method.scores import raters_of, score
from qc.method.topics import describe_topics
from qc.method.workload import minutes_per_conversation
from qc.options import AnalysisOptions, OnStep, no_step
from qc.robustness.intervals import intervals
from qc.run import Run, source_name
from qc.signature import published_hash
from qc.statistics.confidence import without_noise
from qc.statistics.correlation import RankMethod, interval_of_rank_correlation
from qc.table import counted

RANK_COEFFICIENTS: tuple[RankMethod, ...] = ("spearman", "kendall")
COEFFICIENTS = ("pearson", *RANK_COEFFICIENTS)
_COLUMNS = [f"{name}{end}" for name in COEFFICIENTS for end in ("", "_low", "_high")]


@dataclass(frozen=True)
class SeveralRuns:
    """Results of R runs, in the order in which they were given.

    Attributes:
        names: names of the runs; runs with the same name are numbered.
        runs: a row per run: `run`, `source`, `workers`, `passed`, `assignments`, `conversations` (with
            systems, of all workers), `kept`, `minutes` (per conversation), then the per cent of opening
            topics that workers who passed `like`, are `ambivalent` about and `dislike` (NaN if unknown).
        systems: all systems: first those with a score in every run, best first by the mean of their z.
        shared: how many of `systems` have a score in every run.
        z, low, high: (S, R), overall z as in each run's own report, with the ends of its 95 % interval; NaN
            if a run has no score, or the score has no interval.
        raters: (S, R), number of workers behind the score.
        pairs: a row per pair of runs: `first`, `second`, `systems` (number compared), then `pearson`,
            `spearman`, `kendall` of their overall z (NaN with fewer than 3 systems), each with the ends
            `…_low` and `…_high` of its 95 % interval, then `same_conclusions` of `pairs` of systems, and
            `shared_workers`. Two runs without a criterion in common compare no system.
        notes: sentences that a reader must see.
    """

    names: tuple[str, ...]
    runs: pd.DataFrame
    systems: tuple[str, ...]
    shared: int
    z: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    raters: NDArray[np.intp]
    pairs: pd.DataFrame
    notes: tuple[str, ...]


def set_side_by_side(runs: Sequence[Run], options: AnalysisOptions, on_step: OnStep = no_step) -> SeveralRuns:
    """Compare two or more runs.

    Args:
        runs: in the order of the report.
        options: α, seed and number of resamples; sections are ignored.
        on_step: called with a description when the analysis of a run, and when the comparison, begins.

    Raises:
        EmptyRunError: no worker of a run can be tested.
        OptionError: the same data are given twice.
    """
    _require_different(runs)
    names = _names(runs)
    samples, tables, rows = [], [], []
    uneven: list[str] = []
    for name, run in zip(names, runs, strict=True):
        on_step(f"Analysing {name}")
        with about_run(name):
            sample = sample_of(run, options.alpha)
        samples.append(sample)
        table, notes = _scored(sample, options)
        tables.append(table)
        uneven += [f"{name}: {note}" for note in notes]
        rows.append(_counts(name, sample))
    on_step("Comparing the runs")
    systems, shared = _in_order(tables)
    found = [_pair(names, samples, pair) for pair in combinations(range(len(runs)), 2)]
    by_system = [table.reindex(list(systems)) for table in tables]
    z, low, high = (np.column_stack([each[key] for each in by_system]) for key in ("z", "low", "high"))
    return SeveralRuns(
        names=names,
        runs=pd.DataFrame(rows),
        systems=systems,
        shared=shared,
        z=z,
        low=low,
        high=high,
        raters=np.column_stack([each["raters"].fillna(0) for each in by_system]).astype(np.intp),
        pairs=pd.DataFrame([row for row, _ in found]),
        notes=(
            *(f"{name}: {note}" for name, run in zip(names, runs, strict=True) for note in run.notes),
            *uneven,
            *(note for _, notes in found for note in notes),
        ),
    )


def _require_different(runs: Sequence[Run]) -> None:
    first: dict[str, Run] = {}
    for run in runs:
        same = first.setdefault(published_hash(run), run)
        if same is not run:
            raise OptionError(
                f"--with names the same data twice: {same.name} ({same.source}) and {run.name} "
                f"({run.source}). Leave one of them out."
            )


def _names(runs: Sequence[Run]) -> tuple[str, ...]:
    often = Counter(run.name for run in runs)
    return tuple(
        f"{run.name} ({number})" if often[run.name] > 1 else run.name
        for number, run in enumerate(runs, start=1)
    )


def _scored(sample: Sample, options: AnalysisOptions) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return `z`, `low`, `high` and `raters` of a run's systems, and why ends are missing."""
    scores = score(sample)
    sure = intervals(sample, scores, options.bootstrap, options.seed)
    table = pd.DataFrame(
        {
            "z": scores.z["overall"].to_numpy(np.float64),
            "low": sure.z_low[:, 0],
            "high": sure.z_high[:, 0],
            "raters": raters_of(sample, scores),
        },
        index=scores.z["system"].to_list(),
    )
    return table, sure.uneven


def _counts(name: str, sample: Sample) -> dict[str, object]:
    rates, topics = pass_rates(sample), describe_topics(sample)
    opinions = {} if topics is None else asdict(topics.opening["passed"])
    return {
        "run": name,
        "source": source_name(sample.run.source),
        "workers": rates.workers.total,
        "passed": rates.workers.passed,
        "assignments": rates.assignments.total,
        "conversations": rates.conversations.total,
        "kept": rates.conversations.passed,
        "minutes": minutes_per_conversation(sample).passed,
        **{opinion: opinions.get(opinion, np.nan) for opinion in ("like", "ambivalent", "dislike")},
    }


def _in_order(tables: Sequence[pd.DataFrame]) -> tuple[tuple[str, ...], int]:
    """Return all systems, starting with those that every run scores, and the number of the latter."""
    z = pd.concat([table["z"] for table in tables], axis=1)
    order = pd.DataFrame(
        {
            "missing": z.isna().any(axis=1),
            "mean": without_noise(-z.mean(axis=1).to_numpy(np.float64)),
            "system": z.index,
        }
    ).sort_values(["missing", "mean", "system"])
    return tuple(order["system"]), int((~order["missing"]).sum())


def _pair(
    names: Sequence[str], samples: Sequence[Sample], pair: tuple[int, int]
) -> tuple[dict[str, object], list[str]]:
    """Return the table row of two runs, and its notes."""
    first, second = (samples[i] for i in pair)
    row: dict[str, object] = {"first": names[pair[0]], "second": names[pair[1]]}
    both = f"{names[pair[0]]} and {names[pair[1]]}"
    try:
        found = replicate(first, second, fewest=0)
    except ReplicationError:
        row |= {"systems": 0, **dict.fromkeys(_COLUMNS, np.nan)}
        row |= {"same_conclusions": 0, "pairs": 0, "shared_workers": _shared_workers(first, second)}
        return row, [f"{both}: no criterion in common, so nothing of the two is compared."]
    row |= {"systems": len(found.systems), **_coefficients(found)}
    row |= {
        "same_conclusions": found.same_conclusions.n,
        "pairs": found.same_conclusions.of,
        "shared_workers": found.shared_workers,
    }
    return row, [f"{both}: {note}" for note in _notes(found)]


def _coefficients(found: Replication) -> dict[str, float]:
    """Return the correlations of two runs with the ends of their intervals, keyed by _COLUMNS."""
    r = found.overall_interval
    values = {name: getattr(found.z, name)["overall"] for name in COEFFICIENTS}
    within = {"pearson": r} | {
        name: interval_of_rank_correlation(name, values[name], r) for name in RANK_COEFFICIENTS
    }
    ends = [(value, within[name].low, within[name].high) for name, value in values.items()]
    return dict(zip(_COLUMNS, [each for three in ends for each in three], strict=True))


def _shared_workers(first: Sample, second: Sample) -> int:
    return len(set(first.screening.workers["worker"]) & set(second.screening.workers["worker"]))


def _notes(found: Replication) -> tuple[str, ...]:
    # If nothing is compared, the verdict says so, and the table shows the systems of each run.
    differences = found.notes if found.systems else ()
    if not found.shared_workers:
        return differences
    shared = counted(found.shared_workers, "worker")
    both = f"{shared} took part in both; runs of different workers would agree less."
    return (*differences, both)

"""Results that only a run of transcripts has: errors two ways, edits, both conventions for z, controls.

**Errors two ways.** A worker judges many items and an item is judged by several workers, so judgments are
correlated by both. Let u = w (z − mean) / Σ w be the influence of a judgment with weight w on its system's
mean. The variance of the mean is

    V = V_workers + V_items − V_judgments.

Each term is the sum of squares of the sums of u, over the workers, the items and the single judgments, times
G / (G − 1) for the number G of these units. The last term is subtracted because both others include it. The
true V is larger than each of the first two terms; if the estimate is smaller than the larger of them, that
one is used. So a two-way error is never smaller than a one-way error. Differences of two systems are computed
in the same way, with the difference of their u. Student's t has G − 1 degrees of freedom, where G is the
smaller of the numbers of workers and items.

Errors by worker, as in the intervals of scores, apply to other workers and the same items. Two-way errors
apply to other workers and other items of the same systems.

Sources: Cameron, Gelbach and Miller, *Robust inference with multiway clustering*, Journal of Business and
Economic Statistics 29, 2011 (the three terms, each with its factor); degrees of freedom: Cameron and Miller,
*A practitioner's guide to cluster-robust inference*, Journal of Human Resources 50, 2015. That V is not let
below the larger term is ours, on the safe side.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from qc.method.sample import Sample
from qc.method.scores import Scores, ranks_of, score
from qc.method.workload import Minutes, minutes_per_assignment
from qc.run import Run, codes
from qc.statistics.confidence import LEVEL, holm
from qc.statistics.correlation import pearson
from qc.transcripts.controls import (
    Controls,
    Coverage,
    Repeats,
    describe_controls,
    describe_coverage,
    describe_repeats,
)
from qc.transcripts.filter import ChancePasses, chance_passes, items_of, of_kind
from qc.transcripts.judgments import judged, without_bad

FEWEST = 3  # fewest workers, and fewest items, for an error


@dataclass(frozen=True)
class TwoWay:
    """Standard errors of overall z, for other workers and other items.

    Attributes:
        systems: `system`, `z`, `workers`, `items`, `by_worker`, `by_item`, `both` (standard errors), `low`,
            `high` (95 % interval by `both`); best first. Errors are NaN with fewer than FEWEST workers or
            items, or if judgments do not vary.
        pairs: `first`, `second` (the first is higher), `difference`, `error` (two ways), `p` (two-sided),
            `holm` (`p` with Holm's correction over all pairs).
    """

    systems: pd.DataFrame
    pairs: pd.DataFrame


def errors_two_ways(sample: Sample, scores: Scores) -> TwoWay:
    """Return the two-way errors of a run of transcripts."""
    if sample.items is None:
        raise AssertionError("only judgments of items are crossed")
    counted = sample.counted
    systems = ranks_of(sample, scores)[sample.systems[counted]]
    workers, items = sample.workers[counted], sample.items[counted]
    moved, held = influences(sample.overall["z"][counted], sample.weights[counted], systems, len(scores.z))
    names, z = scores.z["system"].to_list(), scores.z["overall"].to_numpy(np.float64)
    rows = []
    for number, name in enumerate(names):
        error = TwoWayErrors.of(np.where(systems == number, moved, 0.0), systems == number, workers, items)
        half = error.quantile * error.both
        rows.append(
            {
                "system": name,
                "z": z[number],
                "workers": error.workers,
                "items": error.items,
                "by_worker": error.by_worker,
                "by_item": error.by_item,
                "both": error.both,
                "low": z[number] - half,
                "high": z[number] + half,
            }
        )
    return TwoWay(pd.DataFrame(rows), _pairs(names, z, moved, systems, workers, items, held))


def influences(
    values: NDArray[np.float64], weights: NDArray[np.float64], systems: NDArray[np.intp], count: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the influence of each judgment on its system's mean, and whether a system has judgments."""
    total = np.bincount(systems, weights, count)
    means = np.bincount(systems, weights * values, count) / np.where(total > 0, total, 1)
    return weights * (values - means[systems]) / total[systems], total > 0


@dataclass(frozen=True)
class TwoWayErrors:
    """Standard errors of a mean or a difference, and the numbers of workers and items behind them."""

    by_worker: float
    by_item: float
    both: float
    workers: int
    items: int

    @property
    def degrees(self) -> int:
        """Degrees of freedom of `both`."""
        return min(self.workers, self.items) - 1

    @property
    def quantile(self) -> float:
        """Half-width of an interval in standard errors; NaN without degrees of freedom."""
        return float(stdtrit(self.degrees, (1 + LEVEL) / 2)) if self.degrees > 0 else np.nan

    @classmethod
    def of(
        cls,
        moved: NDArray[np.float64],
        there: NDArray[np.bool_],
        workers: NDArray[np.intp],
        items: NDArray[np.intp],
    ) -> "TwoWayErrors":
        """Return the errors from the influences `moved` of the judgments that are `there`."""
        moved, workers, items = moved[there], workers[there], items[there]
        numbers = len(np.unique(workers)), len(np.unique(items))
        if min(numbers) < FEWEST:
            return cls(np.nan, np.nan, np.nan, *numbers)
        by_worker, by_item = _variance(moved, workers), _variance(moved, items)
        single = float((moved**2).sum()) * len(moved) / (len(moved) - 1)
        both = max(by_worker + by_item - single, by_worker, by_item)
        if both <= 0:
            return cls(np.nan, np.nan, np.nan, *numbers)
        one, other, together = (float(np.sqrt(each)) for each in (by_worker, by_item, both))
        return cls(one, other, together, *numbers)


def _variance(moved: NDArray[np.float64], clusters: NDArray[np.intp]) -> float:
    names, codes = np.unique(clusters, return_inverse=True)
    sums = np.bincount(codes, moved, len(names))
    return float((sums**2).sum()) * len(names) / (len(names) - 1)


def _pairs(
    names: list[str],
    z: NDArray[np.float64],
    moved: NDArray[np.float64],
    systems: NDArray[np.intp],
    workers: NDArray[np.intp],
    items: NDArray[np.intp],
    held: NDArray[np.bool_],
) -> pd.DataFrame:
    rows = []
    for first, second in zip(*np.triu_indices(len(names), 1), strict=True):
        if not (held[first] and held[second]):
            continue
        sign = np.where(systems == first, 1.0, -1.0)
        of_both = (systems == first) | (systems == second)
        error = TwoWayErrors.of(sign * moved, of_both, workers, items)
        difference = float(z[first] - z[second])
        p = 2 * float(stdtr(error.degrees, -difference / error.both)) if np.isfinite(error.both) else np.nan
        rows.append((names[first], names[second], difference, error.both, p))
    found = pd.DataFrame(rows, columns=["first", "second", "difference", "error", "p"])
    return found.assign(holm=holm(found["p"].to_numpy(np.float64)))


# Source: Ji, PhD thesis: chapter 3 standardises over all ratings of a worker, chapter 4 excludes ratings of
# bad twins. The n in its tables counts repeats, although a repeat is averaged with its item.
@dataclass(frozen=True)
class Conventions:
    """Scores of the systems by both conventions.

    Attributes:
        table: `system` (str), `items` (int: judged by workers who passed), `judgments` (int), `n_published`
            (int: ratings of items and repeats, on all criteria), `z`, `z_without_bad`, `raw` (float:
            overall); in the order of the scores.
        r: Pearson's r of the two z over the systems; NaN with fewer than 3.
    """

    table: pd.DataFrame
    r: float


def compare_conventions(run: Run, sample: Sample, scores: Scores) -> Conventions:
    """Return the scores of `run` by both conventions."""
    other = score(without_bad(run, sample)).z.set_index("system")["overall"]
    names, count = run.systems["system"], len(run.systems)
    counted, kept = sample.counted, sample.screening.keeps(codes(run.conversations["worker"]))
    judged = pd.DataFrame({"system": sample.systems[counted], "item": np.asarray(sample.items)[counted]})
    rated = kept & (of_kind(run, "ordinary") | of_kind(run, "repeat"))
    numbers = pd.DataFrame(
        {
            "items": np.bincount(judged.drop_duplicates()["system"], minlength=count),
            "judgments": np.bincount(judged["system"], minlength=count),
            "n_published": np.bincount(codes(run.conversations["system"])[rated], minlength=count)
            * len(run.criteria),
        }
    ).set_index(names.to_numpy())
    order = scores.z["system"].to_list()
    table = numbers.loc[order].reset_index(names="system")
    table["z"] = scores.z["overall"]
    table["z_without_bad"] = other.loc[order].to_numpy()
    table["raw"] = scores.raw["overall"]
    return Conventions(table, pearson(table["z"].to_numpy(), table["z_without_bad"].to_numpy()))


# Source: Chaganty, Mussmann, Liang, *The price of debiasing automatic metrics in natural language
# evaluation*, ACL 2018, section 4 and appendix A: edited words over length. An unchanged text counts as 0.
@dataclass(frozen=True)
class Edits:
    """Edited words over length.

    Attributes:
        table: `system` (str), `judgments` (int: of workers who passed), `edited` (float: share of them in
            which something was changed), `edit_share` (float: mean over the items of the system, each the
            mean over its workers; lower is better); in the order of the scores.
    """

    table: pd.DataFrame


def describe_edits(run: Run, sample: Sample, scores: Scores) -> Edits | None:
    """Return the edits of workers who passed; None if the study did not ask for edits."""
    given = items_of(run)["edit_share"].to_numpy(np.float64)
    if not np.isfinite(given).any():
        return None
    share = judged(run, np.nan_to_num(given)[:, None])[:, 0]
    counted = sample.counted
    rows = pd.DataFrame(
        {
            "system": run.systems["system"].to_numpy()[sample.systems[counted]],
            "weight": sample.weights[counted],
            "share": share[counted],
        }
    )
    by_system = rows.assign(value=rows["share"] * rows["weight"], edited=rows["share"] > 0).groupby("system")
    sums = by_system[["value", "weight"]].sum()
    table = pd.DataFrame(
        {
            "judgments": by_system.size(),
            "edited": by_system["edited"].mean(),
            "edit_share": sums["value"] / sums["weight"],
        }
    ).reindex(scores.z["system"].to_list())
    return Edits(table.fillna({"judgments": 0}).astype({"judgments": np.int64}).reset_index(names="system"))


@dataclass(frozen=True)
class TranscriptResults:
    """Results of a run of transcripts besides scores. A part is None if the run has no data for it."""

    conventions: Conventions
    coverage: Coverage
    controls: Controls
    chance_passes: ChancePasses
    repeats: Repeats | None
    edits: Edits | None
    errors: TwoWay
    minutes_per_assignment: Minutes

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that a reader must see."""
        return (*self.coverage.notes, *self.chance_passes.notes, *self.controls.notes)


def describe_transcripts(sample: Sample, scores: Scores, seed: int) -> TranscriptResults | None:
    """Return the results of a run of transcripts; None if its workers chatted."""
    run: Run = sample.run
    if run.items is None:
        return None
    return TranscriptResults(
        conventions=compare_conventions(run, sample, scores),
        coverage=describe_coverage(sample),
        controls=describe_controls(run, sample),
        chance_passes=chance_passes(sample, seed),
        repeats=describe_repeats(run, sample.screening),
        edits=describe_edits(run, sample, scores),
        errors=errors_two_ways(sample, scores),
        minutes_per_assignment=minutes_per_assignment(sample),
    )

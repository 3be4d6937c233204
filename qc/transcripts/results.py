"""Results that only a run of transcripts has, such as workers' edits and scores by both conventions for z."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from qc.method.sample import Sample
from qc.method.scores import Scores, score
from qc.method.workload import Minutes, minutes_per_assignment
from qc.run import Run, codes
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
from qc.transcripts.two_way import TwoWay, errors_two_ways


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

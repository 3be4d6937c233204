"""The scores by both published conventions for z, and what is counted as n.

Source: Ji, PhD thesis: chapter 3 standardises over all ratings of a worker, chapter 4 leaves those of bad
twins out. The n that its tables print counts repeats, although a repeat is averaged with its item.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from qc.method.sample import Sample
from qc.method.scores import Scores, score
from qc.run import Run, codes
from qc.statistics.correlation import pearson
from qc.transcripts.judgments import without_bad
from qc.transcripts.twins import of_kind


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

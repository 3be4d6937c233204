"""The published run, with the thesis' scores of its systems by word-overlap metrics: J 5.4.7."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from qc.method.sample import Sample
from qc.metrics.against_people import halfway, hold_against_people
from qc.metrics.metric_table import read_metric_table
from qc.table import OVERALL

pytestmark = pytest.mark.published
FAMILIES = {"A": "biencoder", "B": "polyencoder", "C": "kvmemnn", "D": "seq2seq", "E": "lan_model"}


def test_the_thesis_correlations_come_out_of_the_published_run(
    published: Path, published_sample: Callable[[str, str], Sample], tmp_path: Path
) -> None:
    printed = json.loads((published / "estimators" / "metrics" / "golden.json").read_text("utf-8"))[
        "dialogue"
    ]
    scores = tmp_path / "overlap.csv"
    with scores.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["system", *printed["metric_scores"]])
        names = [FAMILIES[name[0]] + ("_p" if name.endswith("p") else "") for name in printed["systems"]]
        table.writerows(zip(names, *printed["metric_scores"].values(), strict=True))
    sample = published_sample("free_run1", "hits_data.json")
    found = hold_against_people(sample, read_metric_table(scores, sample.run, []), 100, 0)
    overall = {each.metric: each.systems for each in found.agreements if each.on == OVERALL}
    kept = dict(halfway(found))
    for metric, expected in printed["correlations"].items():
        # The z of the file are printed with three digits, ours are not: no r moves by a thousandth.
        assert overall[metric].pearson.value == pytest.approx(expected["pearson"], abs=1e-3)
        assert overall[metric].spearman.value == pytest.approx(expected["spearman"], abs=1e-3)
        assert overall[metric].kendall.value == pytest.approx(expected["kendall"], abs=1e-3)
        assert overall[metric].pairwise_accuracy == pytest.approx(expected["pairwise_accuracy"], abs=1e-3)
        assert kept[metric].best_kept == expected["prefilter"]["best_kept"]
        assert kept[metric].regret == pytest.approx(expected["prefilter"]["regret"], abs=1e-3)

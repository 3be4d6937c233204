"""Every table as a frame, and as a file of comma-separated values."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from qc.analysis import Analysis, Options, analyse
from qc.errors import OutputError
from qc.load import load
from qc.render import FORMATS, tables, write
from qc.render.files import comma_separated
from tests.qc.reports import NASTY, bare, whole

ALWAYS = {
    "system_scores.csv",
    "system_raw_scores.csv",
    "worker_pvalues.csv",
    "passrate.csv",
    "duration.csv",
    "kept.csv",
    "workload.csv",
    "cost.csv",
    "left_out.csv",
}


@pytest.fixture(scope="module")
def two_runs(published: Path) -> Analysis:
    first, second = (load(str(published / "published" / f"free_run{n}" / "hits_data.json")) for n in (1, 2))
    return analyse(first, Options(bootstrap=100), second)


@pytest.mark.published
@pytest.mark.parametrize(
    ("place", "name", "tolerance"),
    [
        ("free_run1", "corr_between_scores.csv", 1e-6),
        ("free_run1", "corr_between_raw_scores.csv", 1e-6),
        ("free_run1", "significance_pvalues.csv", 1e-9),
        ("replication_run1_run2", "corr_zscore_r1r2.csv", 1e-6),
        ("replication_run1_run2", "corr_rawscore_r1r2.csv", 1e-6),
    ],
)
def test_tables_have_the_authors_form(
    two_runs: Analysis, published: Path, place: str, name: str, tolerance: float
) -> None:
    ours, golden = comma_separated(tables(two_runs)[name]), (published / "golden" / place / name).read_bytes()
    assert ours.splitlines()[0] == golden.splitlines()[0]
    one, other = (pd.read_csv(io.BytesIO(content)) for content in (ours, golden))
    pd.testing.assert_frame_equal(one, other, check_exact=False, rtol=0, atol=tolerance)


@pytest.mark.published
def test_agreement_equals_the_golden_file(two_runs: Analysis, published: Path) -> None:
    golden = json.loads((published / "golden" / "free_run1" / "rater_agreement.json").read_text())
    ours = tables(two_runs)["rater_agreement.csv"].set_index("group")
    for group, expected in golden.items():
        assert ours.loc[group, "pairs"] == expected["pairs"]
        assert ours.loc[group, "median_r"] == pytest.approx(expected["median_r"], abs=1e-9)


def test_only_what_was_computed_is_written() -> None:
    assert set(tables(bare())) == ALWAYS
    more = set(tables(whole())) - ALWAYS
    assert {"intervals.csv", "workers.csv", "topics_opinions.csv", "corr_zscore_r1r2.csv"} <= more


def test_tables_agree_with_each_other() -> None:
    found = tables(whole())
    z = found["system_scores.csv"]
    intervals = found["intervals.csv"]
    overall = intervals[(intervals["scale"] == "z") & (intervals["criterion"] == "overall")]
    assert overall["system"].tolist() == z["model"].tolist()
    assert overall["score"].tolist() == z["z"].tolist()
    assert (overall["low"] < overall["score"]).all()
    assert (overall["score"] < overall["high"]).all()
    differences = found["differences.csv"]
    assert len(differences) == 4 * 3 / 2
    assert (differences["difference"] >= 0).all()
    holds_zero = (differences["low"] <= 0) & (differences["high"] >= 0)
    assert (holds_zero == ~differences["told_apart"]).all()
    kept = found["kept.csv"]
    assert (kept["passed"] + kept["failed"] == kept["total"]).all()


def test_a_file_holds_every_digit_and_nothing_for_what_is_not_known() -> None:
    table = pd.DataFrame(
        {
            "": ["a", NASTY, None],
            "n": [1, 2, 3],
            "p": [1e-300 / 3, np.nan, 0.1],
            "said": ['x, "y"', "=1", "ü\nz"],
        }
    )
    table.insert(2, "n", [True, False, True], allow_duplicates=True)
    content = comma_separated(table)
    assert content.startswith(b",n,n,p,said\n")
    again = pd.read_csv(io.BytesIO(content))
    assert again["p"].tolist()[0] == 1e-300 / 3
    assert np.isnan(again["p"].tolist()[1])
    assert again["said"].tolist() == table["said"].tolist()
    assert again.iloc[:2, 0].tolist() == ["a", NASTY]
    assert again.iloc[:, 2].tolist() == [True, False, True]


def test_each_format_is_written_alone(tmp_path: Path) -> None:
    analysis = whole()
    for kind in FORMATS:
        steps: list[str] = []
        files = write(analysis, tmp_path / kind, frozenset([kind]), steps.append)
        beside = {".txt"} if kind == "csv" else set()  # the signature, which a table cannot hold
        assert {file.suffix for file in files} == {f".{kind}"} | beside
        assert sorted(files) == sorted((tmp_path / kind).iterdir())
        assert len(steps) == 1
    assert write(analysis, tmp_path / "all")[0].name == "report.html"


def test_a_directory_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        write(bare(), tmp_path / "file", frozenset(["csv"]))

"""Every table as a frame, and as a file of comma-separated values."""

import io
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest

from qc.analysis import Analysis, analyse
from qc.errors import OutputError
from qc.render import FORMATS, tables, write, writing_steps
from qc.render.files import comma_separated
from qc.render.workbook import workbook
from tests.qc.support.analyses import NASTY, QUICK, awkward_run, bare, whole
from tests.qc.support.written import Written

ALWAYS = {
    "system_scores.csv",
    "system_raw_scores.csv",
    "worker_pvalues.csv",
    "passrate.csv",
    "duration.csv",
    "kept.csv",
    "workload.csv",
    "workload_distribution.csv",
    "cost.csv",
    "incidents.csv",
    "offensive.csv",
    "flagged.csv",
    "served.csv",
    "answers.csv",
    "answers_marks.csv",
    "answers_numbers.csv",
    "quiz.csv",
    "quiz_systems.csv",
    "quiz_workers.csv",
    "quiz_filter.csv",
    "quiz_not_asked.csv",
    "writing.csv",
    "writing_workers.csv",
    "writing_scores.csv",
    "turn_ratings.csv",
    "scenarios.csv",
    "left_out.csv",
}


@pytest.mark.published
@pytest.mark.parametrize(
    ("folder", "name", "tolerance"),
    [
        ("free_run1", "corr_between_scores.csv", 1e-6),
        ("free_run1", "corr_between_raw_scores.csv", 1e-6),
        ("free_run1", "significance_pvalues.csv", 1e-9),
        ("replication_run1_run2", "corr_zscore_r1r2.csv", 1e-6),
        ("replication_run1_run2", "corr_rawscore_r1r2.csv", 1e-6),
    ],
)
def test_tables_have_the_authors_form(
    two_runs: Analysis, published: Path, folder: str, name: str, tolerance: float
) -> None:
    ours, golden = (
        comma_separated(tables(two_runs)[name].frame),
        (published / "golden" / folder / name).read_bytes(),
    )
    assert ours.splitlines()[0] == golden.splitlines()[0]
    one, other = (pd.read_csv(io.BytesIO(content)) for content in (ours, golden))
    pd.testing.assert_frame_equal(one, other, check_exact=False, rtol=0, atol=tolerance)


@pytest.mark.published
def test_agreement_equals_the_golden_file(two_runs: Analysis, published: Path) -> None:
    golden = json.loads((published / "golden" / "free_run1" / "rater_agreement.json").read_text())
    ours = tables(two_runs)["rater_agreement.csv"].frame.set_index("group")
    for group, expected in golden.items():
        assert ours.loc[group, "pairs"] == expected["pairs"]
        assert ours.loc[group, "median_r"] == pytest.approx(expected["median_r"], abs=1e-9)


def test_only_what_was_computed_is_written() -> None:
    assert set(tables(bare())) == ALWAYS
    more = set(tables(whole())) - ALWAYS
    assert {"intervals.csv", "workers.csv", "topics_opinions.csv", "corr_zscore_r1r2.csv"} <= more


def test_tables_agree_with_each_other() -> None:
    found = {name: table.frame for name, table in tables(whole()).items()}
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
    assert found["filter.csv"].loc[0, "failed_r"] == whole().filter_check.failed_r  # type: ignore[union-attr]
    kept = found["kept.csv"]
    assert (kept["passed"] + kept["failed"] == kept["total"]).all()


def test_a_file_holds_every_digit_and_nothing_for_what_is_not_known() -> None:
    table = pd.DataFrame(
        {
            "": ["a", NASTY, None],
            "n": [1, 2, 3],
            "p": [1e-300 / 3, np.nan, 0.1],
            "said": ['x, "y"', "a=1", "ü\nz"],
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


def test_each_format_is_written_alone(complete: Written, tmp_path: Path) -> None:
    analysis = whole()
    for kind in FORMATS:
        steps: list[str] = []
        files = write(analysis, tmp_path / kind, frozenset([kind]), steps.append)
        beside = {".txt"} if kind == "csv" else set()  # the signature, which a table cannot hold
        assert {file.suffix for file in files} == {f".{kind}"} | beside
        assert sorted(files) == sorted((tmp_path / kind).iterdir())
        assert steps[-1].startswith("Writing")
        # Drawing takes longest of all, so it is told.
        assert steps[:-1] == (["Drawing the figures"] if kind in {"html", "svg"} else [])
        assert len(steps) == writing_steps(frozenset([kind]))
    assert complete.files[0].name == "report.html"
    assert len(complete.steps) == writing_steps(frozenset(FORMATS))
    assert writing_steps(frozenset()) == 0


def test_files_of_an_earlier_report_are_removed(complete: Written, tmp_path: Path) -> None:
    shutil.copytree(complete.directory, tmp_path, dirs_exist_ok=True)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "more.svg").write_text("mine")
    assert (tmp_path / "replication.svg").exists()
    files = write(bare(), tmp_path, frozenset({"csv", "svg"}))
    left = {file.name for file in tmp_path.iterdir()}
    assert left == {"notes.txt", "more.svg"} | {file.name for file in files}
    assert not left & {"replication.svg", "report.html"}


def test_figures_alone_are_an_earlier_report(complete: Written, tmp_path: Path) -> None:
    for figure in complete.directory.glob("*.svg"):
        shutil.copy(figure, tmp_path)
    assert (tmp_path / "replication.svg").exists()
    write(bare(), tmp_path, frozenset({"svg"}))
    assert not (tmp_path / "replication.svg").exists()


def test_files_of_others_are_never_removed(tmp_path: Path) -> None:
    for name in ("workers.csv", "context.csv", "ranking.svg"):
        (tmp_path / name).write_text("mine")
    write(bare(), tmp_path, frozenset({"json"}))
    assert {file.name for file in tmp_path.iterdir()} == {
        "workers.csv",
        "context.csv",
        "ranking.svg",
        "report.json",
    }


def test_a_system_without_a_score_is_neither_told_apart_nor_not() -> None:
    run = awkward_run()
    analysis = analyse(replace(run, ratings=run.ratings * 0 + 50), QUICK)
    found = tables(analysis)["differences.csv"]
    assert found.frame["told_apart"].isna().all()
    lines = comma_separated(found.frame).decode().splitlines()
    assert {line.rsplit(",", 1)[1] for line in lines[1:]} == {""}
    sheet = openpyxl.load_workbook(io.BytesIO(workbook(analysis, {"differences.csv": found})))["differences"]
    assert sheet["F2"].value is None
    some = comma_separated(tables(whole())["differences.csv"].frame).decode().splitlines()
    assert {line.rsplit(",", 1)[1] for line in some[1:]} <= {"true", "false"}


def test_a_directory_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        write(bare(), tmp_path / "file", frozenset(["csv"]))

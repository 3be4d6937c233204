"""Several runs side by side: with the published ones, and with two small ones of partly different systems."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtri
from typer.testing import Result

import qc
from qc.options import AnalysisOptions
from qc.several_runs import SeveralRuns, set_side_by_side

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
QUICK = AnalysisOptions(bootstrap=200)
SHARED = {"retrieval", "rules", "neural", "markov"}


@pytest.fixture(scope="module")
def runs() -> list[qc.Run]:
    return [qc.load(EXAMPLES / f"{name}.json") for name in ("first", "second")]


@pytest.fixture(scope="module")
def found(runs: list[qc.Run]) -> SeveralRuns:
    return set_side_by_side(runs, QUICK)


@pytest.mark.published
def test_of_the_published_runs_it_says_what_is_published(
    published_run: Callable[[str, str], qc.Run],
) -> None:
    """Thesis, chapter 5: r = 0.968, the same conclusion for 38 of 45 pairs, opinions of table 5.2."""
    both = [published_run(name, "mturk_batch.csv") for name in ("free_run1", "free_run2")]
    said = set_side_by_side(both, QUICK)
    row = said.pairs.iloc[0]
    assert (round(row["pearson"], 3), row["same_conclusions"], row["pairs"]) == (0.968, 38, 45)
    assert row["pearson_low"] < row["pearson"] < row["pearson_high"]
    first = said.runs.iloc[0]
    assert (first["workers"], first["passed"], first["conversations"], first["kept"]) == (
        248,
        173,
        1520,
        1075,
    )
    assert first[["like", "ambivalent", "dislike"]].astype(float).round(2).to_list() == [83.86, 7.45, 8.69]
    assert round(first["minutes"], 2) == 6.53
    assert said.shared == len(said.systems) == 10


def test_scores_are_those_of_each_run_alone_and_what_all_share_comes_first(
    runs: list[qc.Run], found: SeveralRuns
) -> None:
    assert found.names == ("first", "second")
    assert set(found.systems[: found.shared]) == SHARED
    assert set(found.systems[found.shared :]) == {"echo", "tuned"}
    for column, run in enumerate(runs):
        alone = qc.analyse(run, replace(QUICK, sections=frozenset({"intervals"}))).tables["scores"]
        alone = alone.set_index("system").reindex(list(found.systems))
        for values, key in ((found.z, "z"), (found.low, "low"), (found.high, "high")):
            np.testing.assert_array_equal(values[:, column], alone[key])
    assert any("Only in the first run" in note and "echo" in note for note in found.notes)


def test_intervals_of_coefficients_are_over_systems_and_hold_them(
    runs: list[qc.Run], found: SeveralRuns
) -> None:
    """Fisher's for r of 4 systems; those of ρ and τ end where a normal distribution has them."""
    row = found.pairs.iloc[0]
    ends = np.array([row["pearson_low"], row["pearson_high"]])
    half = ndtri(0.975) / np.sqrt(4 - 3)
    np.testing.assert_allclose(ends, np.tanh(np.arctanh(row["pearson"]) + half * np.array([-1, 1])))
    assert row["kendall_low"] == pytest.approx(2 / np.pi * np.arcsin(ends[0]))
    assert row["spearman_low"] == pytest.approx(6 / np.pi * np.arcsin(ends[0] / 2))
    assert (row[["spearman", "kendall"]].to_numpy() <= row[["spearman_high", "kendall_high"]]).all()
    renamed = runs[0].assignments.assign(assignment=lambda rows: rows["assignment"] + "'")
    twins = set_side_by_side([runs[0], replace(runs[0], assignments=renamed)], QUICK)
    assert twins.pairs.iloc[0]["shared_workers"] == 24
    assert any("24 workers took part in both" in note for note in twins.notes)


def test_a_third_run_is_held_against_each_of_the_others(runs: list[qc.Run]) -> None:
    third = replace(runs[1], assignments=runs[1].assignments.assign(seconds=60.0))
    found = set_side_by_side([*runs, third], QUICK)
    assert found.names == ("first", "second (2)", "second (3)")
    assert list(zip(found.pairs["first"], found.pairs["second"], strict=True)) == [
        ("first", "second (2)"),
        ("first", "second (3)"),
        ("second (2)", "second (3)"),
    ]
    assert found.pairs["systems"].to_list() == [4, 4, 5]


def test_the_command_writes_page_json_tables_and_figure(
    report: Callable[..., Result], tmp_path: Path
) -> None:
    first, second = (EXAMPLES / f"{name}.json" for name in ("first", "second"))
    result = report(first, "--with", second, "--bootstrap", 200, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert "4 systems are too few to tell from a correlation" in " ".join(result.stdout.split())
    names = ["runs-scores.svg", "runs.html", "runs.json", "runs.xlsx"]
    tables = ["runs_agreement.csv", "runs_intervals.csv", "runs_runs.csv", "runs_scores.csv"]
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([*names, *tables])
    said = json.loads((tmp_path / "runs.json").read_text("utf-8"))
    assert [row["system"] for row in said["scores"] if row["rank first"] is None] == ["tuned", "echo"]
    assert said["agreement"][0]["systems"] == 4
    page = (tmp_path / "runs.html").read_text("utf-8")
    assert "<script" not in page
    assert "Overall scores from run to run" in page


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--with", "first.json"), "--with names the same data twice"),
        (("--with", "nothing"), "--with is 'nothing', but there is no such file"),
        (
            ("--with", "second.json", "--replicate", "second.json"),
            "--replicate and --with do not go together",
        ),
        (("--with", "second.json", "--format", "latex"), "several runs have no files for a paper yet"),
    ],
)
def test_what_makes_no_sense_is_refused(
    refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(EXAMPLES)
    assert said in refused("first.json", *more)

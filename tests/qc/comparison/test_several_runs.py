"""Several runs side by side: with the published ones, and with two small ones of partly different systems."""

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from scipy.special import ndtri
from typer.testing import Result

import candor
from qc.comparison.several_runs import SeveralRuns, set_side_by_side
from qc.options import AnalysisOptions
from qc.render.findings.several_runs import RUNS_SCHEMA, several_runs_findings
from tests.needs import need_programs
from tests.qc.support.designs import DESIGNS, run_of, with_equal_systems

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
QUICK = AnalysisOptions(bootstrap=200)
SHARED = {"retrieval", "rules", "neural", "markov"}


@pytest.fixture(scope="module")
def runs() -> list[candor.Run]:
    return [candor.load(EXAMPLES / f"{name}.json") for name in ("first", "second")]


@pytest.fixture(scope="module")
def found(runs: list[candor.Run]) -> SeveralRuns:
    return set_side_by_side(runs, QUICK)


def test_why_intervals_of_a_run_are_missing_is_said() -> None:
    even = replace(with_equal_systems(DESIGNS["forty"]), workers=30, assignments=1, careless=0.0)
    both = [
        run_of(replace(even, leading=leading), np.random.default_rng(number))
        for number, leading in enumerate(((), (60,)))
    ]
    said = set_side_by_side(both, QUICK)
    assert np.isfinite(said.low[:, 0]).all()
    assert np.isnan(said.low[:, 1]).all()
    (note,) = [note for note in said.notes if "gave most of the ratings" in note]
    assert note.startswith("made up (2): A few workers")


@pytest.mark.published
def test_of_the_published_runs_it_says_what_is_published(
    published_run: Callable[[str, str], candor.Run],
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
    runs: list[candor.Run], found: SeveralRuns
) -> None:
    assert found.names == ("first", "second")
    assert set(found.systems[: found.shared]) == SHARED
    assert set(found.systems[found.shared :]) == {"echo", "tuned"}
    for column, run in enumerate(runs):
        alone = candor.analyse(run, replace(QUICK, sections=frozenset({"intervals"}))).tables["scores"]
        alone = alone.set_index("system").reindex(list(found.systems))
        for values, key in ((found.z, "z"), (found.low, "low"), (found.high, "high")):
            np.testing.assert_array_equal(values[:, column], alone[key])
    assert any("Only in the first run" in note and "echo" in note for note in found.notes)


def test_intervals_of_coefficients_are_over_systems_and_hold_them(
    runs: list[candor.Run], found: SeveralRuns
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


def test_a_third_run_is_held_against_each_of_the_others(runs: list[candor.Run]) -> None:
    third = replace(runs[1], assignments=runs[1].assignments.assign(seconds=60.0))
    found = set_side_by_side([*runs, third], QUICK)
    assert found.names == ("first", "second (2)", "second (3)")
    assert list(zip(found.pairs["first"], found.pairs["second"], strict=True)) == [
        ("first", "second (2)"),
        ("first", "second (3)"),
        ("second (2)", "second (3)"),
    ]
    assert found.pairs["systems"].to_list() == [4, 4, 5]


def _without(run: candor.Run, systems: set[str]) -> candor.Run:
    """Return the run as if `systems` had not been in it."""
    kept = ~run.conversations["system"].isin(systems).to_numpy()
    conversations = run.conversations[kept].reset_index(drop=True)
    left = run.systems[~run.systems["system"].isin(systems)].reset_index(drop=True)
    conversations["system"] = conversations["system"].cat.set_categories(left["system"])
    return replace(
        run,
        systems=left,
        conversations=conversations,
        ratings=run.ratings[kept].reset_index(drop=True),
        words=None,
    )


@pytest.mark.parametrize(
    ("missing", "systems", "pairs", "said"),
    [
        ({"rules", "neural"}, 2, 1, "of 2 systems have no correlation, and for"),
        ({"rules", "neural", "markov"}, 1, 0, "of 1 system have no correlation, and for 0 of 0"),
        (SHARED, 0, 0, "first and second have no system to compare."),
    ],
)
def test_runs_that_share_few_systems_say_what_can_be_said(
    runs: list[candor.Run], missing: set[str], systems: int, pairs: int, said: str
) -> None:
    both = [_without(runs[0], missing), runs[1]]
    found = set_side_by_side(both, QUICK)
    row = found.pairs.iloc[0]
    assert (row["systems"], row["pairs"]) == (systems, pairs)
    assert np.isnan(row["pearson"])
    assert np.isnan(row["kendall_high"])
    alone = candor.analyse(runs[1], replace(QUICK, sections=frozenset({"intervals"}))).tables["scores"]
    np.testing.assert_array_equal(
        np.sort(found.z[np.isfinite(found.z[:, 1]), 1]), np.sort(alone["z"].to_numpy())
    )
    findings = several_runs_findings(found, both, QUICK)
    assert said in findings.verdict[0]
    figure = findings.figures[0].draw()
    assert figure is not None


def test_runs_without_a_common_criterion_stand_side_by_side(runs: list[candor.Run]) -> None:
    renamed = {label: f"{label} too" for label in runs[1].criteria["label"]}
    other = replace(
        runs[1],
        criteria=runs[1].criteria.assign(label=lambda rows: rows["label"].map(renamed)),
        ratings=runs[1].ratings.rename(columns=renamed),
    )
    found = set_side_by_side([runs[0], other], QUICK)
    assert found.pairs.iloc[0]["systems"] == 0
    assert "first and second: no criterion in common, so nothing of the two is compared." in found.notes


@pytest.mark.tex
def test_the_files_for_a_paper_hold_the_numbers_and_compile(
    report: Callable[..., Result], found: SeveralRuns, tmp_path: Path
) -> None:
    first, second = (EXAMPLES / f"{name}.json" for name in ("first", "second"))
    result = report(first, "--with", second, "--bootstrap", 200, "--out", tmp_path, "--format", "latex,pdf")
    assert result.exit_code == 0, result.output
    folder = tmp_path / "paper"
    texts = {"paper", "methods", "runs-scores", "runs-agreement", "runs-runs"}
    assert {file.name for file in folder.iterdir()} == {
        *(f"{name}.tex" for name in texts),
        *(f"runs-scores-{width}.pdf" for width in ("one-column", "two-columns")),
        "references.bib",
    }
    table = (folder / "runs-scores.tex").read_text("utf-8")
    rows = table.partition(r"\midrule")[2].partition(r"\bottomrule")[0].strip().splitlines()
    wanted = dict(zip(found.systems, found.z[:, 0].tolist(), strict=True))
    for row in rows:
        name, z, *_ = row.split(" & ")
        said = "--" if np.isnan(wanted[name]) else f"{wanted[name]:.3f}".replace("-", "$-$")
        assert z == said
    r = found.pairs.iloc[0]["pearson"]
    assert f"correlate at r = {r:.3f}" in (folder / "methods.tex").read_text("utf-8")
    need_programs("pdflatex", "bibtex")
    ran = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper"],
        cwd=folder, capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout[-2000:]
    assert not re.findall(r"Overfull \\hbox \((\d{2,})", (folder / "paper.log").read_text("latin-1"))


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
    jsonschema.validate(said, RUNS_SCHEMA)
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
            "--replicate and --with cannot be combined",
        ),
        (
            ("--with", "second.json", "--reward", "1", "--fee", "20", "--only", "significance", "--workers"),
            "--reward and --fee and --only and --workers and --with cannot be combined",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(
    refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(EXAMPLES)
    assert said in refused("first.json", *more)

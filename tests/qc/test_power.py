"""The command `qc.power`, as a user meets it."""

import json
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from qc.power import app
from tests.qc.support.crowd_ratings import crowd_ratings_file, golden
from tests.qc.support.judgment_files import write_judgments

Run = Callable[..., Result]


@pytest.fixture
def power() -> Run:
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def refused(power: Run) -> Callable[..., str]:
    def run(*arguments: object) -> str:
        result = power(*arguments)
        assert result.exit_code == 2, result.output
        assert result.stdout == ""
        assert result.stderr.startswith("Error: ")
        return " ".join(result.stderr.split())

    return run


def test_without_data(power: Run) -> None:
    output = power("--difference", 4, "--sd", 25).stdout
    rows = [line.replace("│", " ").split() for line in output.splitlines()]
    assert ["independent", "judgments", "4.000", "25.000", "1.00", "1,017", "2,032", "2,030"] in rows


def test_what_a_size_can_tell(power: Run) -> None:
    # 2 × 1,016.17 judgments show 4 (published, 2,032), so 1,017 show a little less.
    output = power("--judgments", 1017, "--sd", 25).stdout
    assert "1,017 show 4." in output


def test_all_files_and_the_golden_numbers_in_them(power: Run, published: Path, tmp_path: Path) -> None:
    result = power(crowd_ratings_file(published), "--out", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    assert "begin with power.html" in result.stdout
    document = json.loads((tmp_path / "out" / "power.json").read_text(encoding="utf-8"))
    expected = golden(published)["summeval_turker"]
    curve = {str(row["judgments"]): row for row in document["curve"]}
    human = expected["human"]
    for size, error in human["error_true"].items():
        assert curve[size]["people"] == pytest.approx(error, abs=1e-5)
    worths = {row["metric"]: row["worth"] for row in document["metrics"]}
    for metric, found in expected["decomposition"].items():
        assert worths[metric] == pytest.approx(found["break_even_judgments"], rel=0.005)
    pairs = pd.DataFrame(document["metric_pairs"])
    assert len(pairs) == 6 * 120
    on_average = pairs.groupby("metric")[["error", "bias", "noise_part", "variance_part"]].mean()
    for metric, found in expected["decomposition"].items():
        assert on_average.loc[metric, "error"] == pytest.approx(found["normal_outputs"]["error"], abs=1e-5)
        assert on_average.loc[metric, "bias"] == pytest.approx(found["normal_outputs"]["bias"], abs=1e-5)
    noise = {row["drawn"]: row["noise"] for row in document["noise"]}
    assert noise["judgments"] == pytest.approx(human["lower_bound_rows"], abs=1e-5)
    assert noise["outputs"] == pytest.approx(human["lower_bound_outputs"], abs=1e-5)
    sheets = openpyxl.load_workbook(tmp_path / "out" / "power.xlsx").sheetnames
    tables = {path.stem for path in (tmp_path / "out").glob("power_*.csv")}
    assert set(sheets) == {"report", *tables}
    systems = pd.read_csv(tmp_path / "out" / "power_systems.csv")
    assert len(systems) == 16
    page = (tmp_path / "out" / "power.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "break-even-title" in page


def test_formats_that_are_asked_for_are_written_and_no_others(power: Run, tmp_path: Path) -> None:
    source = write_judgments(tmp_path / "judgments.csv")
    power(source, "--bootstrap", 100, "--out", tmp_path / "out", "--format", "json,svg")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"power.json", "break-even.svg"}


def test_the_same_seed_gives_the_same_bytes(power: Run, tmp_path: Path) -> None:
    source = write_judgments(tmp_path / "judgments.csv")
    for name in ("one", "two"):
        power(source, "--bootstrap", 100, "--out", tmp_path / name, "--format", "html,json,csv,svg")
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_run_of_ours_knows_its_workers(power: Run, published: Path) -> None:
    run = published / "published" / "free_run1" / "hits_data.json"
    output = " ".join(power(run, "--z", "--difference", 0.2, "--bootstrap", 100).stdout.split())
    # 173 workers hold 1,075 conversations with 10 systems: 170 of each take 170 × 1,730 / 1,075 = 273.6.
    assert "170 for 0.2, so 274 workers for all systems (each worker judging as here)" in output


def test_names_in_the_data_are_not_markup(power: Run, tmp_path: Path) -> None:
    lines = [f"i{n},<b>{s}</b>,w{n},{n},0" for s in "ab" for n in range(3)]
    source = write_judgments(tmp_path / "judgments.csv", lines)
    power(source, "--bootstrap", 100, "--out", tmp_path / "out", "--format", "html")
    page = (tmp_path / "out" / "power.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;a&lt;/b&gt;" in page
    assert "<b>a</b>" not in page


def test_what_is_refused(refused: Callable[..., str], tmp_path: Path) -> None:
    source = write_judgments(tmp_path / "judgments.csv")
    assert "Nothing to plan with" in refused()
    assert "Nothing to plan with" in refused("--sd", 25)
    assert "--metrics is about judgments" in refused("--metrics", source, "--sd", 1, "--difference", 1)
    assert "--sd cannot be combined with SOURCE" in refused(source, "--sd", 25)
    assert "--bootstrap is 5" in refused(source, "--bootstrap", 5)
    assert "--seed is -1" in refused(source, "--seed", -1)
    assert "--format is 'pdf'" in refused(source, "--format", "pdf")
    assert "there are: value, overall" in refused(source, "--criterion", "speed")
    assert "nowhere.csv" in refused(tmp_path / "nowhere.csv")
    assert "cannot be written" in refused(source, "--bootstrap", 100, "--out", source)

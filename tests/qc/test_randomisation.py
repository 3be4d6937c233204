"""The command `qc.randomisation`, as a user meets it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from qc.randomisation import app
from tests.qc.support.judgment_files import write_judgments

Run = Callable[..., Result]


@pytest.fixture
def randomisation() -> Run:
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_a_small_file(randomisation: Run, tmp_path: Path) -> None:
    result = randomisation(write_judgments(tmp_path / "judgments.csv"))
    assert result.exit_code == 0, result.stderr
    assert "0 of 3 pairs of systems differ" in result.stdout
    rows = [line.replace("│", " ").split() for line in result.stdout.splitlines()]
    assert ["a", "b", "2", "-5.000", "0.500", "1.000", "4", "all"] in rows
    assert ["worker", "×", "system", "6", "2", "2", "0"] in rows


def test_the_case_of_the_golden_file(randomisation: Run, published: Path, tmp_path: Path) -> None:
    text = (published / "estimators" / "metrics" / "golden.json").read_text(encoding="utf-8")
    case = json.loads(text)["approximate_randomisation"]
    lines = [
        f"i{number},{system},w{number},{value},0"
        for system in "ab"
        for number, value in enumerate(case[system])
    ]
    source = write_judgments(tmp_path / "judgments.csv", lines)
    result = randomisation(source, "--out", tmp_path / "out", "--format", "json")
    assert result.exit_code == 0, result.stderr
    document = json.loads((tmp_path / "out" / "randomisation.json").read_text(encoding="utf-8"))
    (pair,) = document["pairs"]
    assert pair["p"] == pytest.approx(case["exact_two_sided"], abs=1e-5)
    assert pair["exact"] is True


def test_two_pools_of_the_golden_file(randomisation: Run, published: Path, tmp_path: Path) -> None:
    text = (published / "estimators" / "metrics" / "golden.json").read_text(encoding="utf-8")
    case = json.loads(text)["one_against_average"]
    sources = []
    for pool in ("pool_a", "pool_b"):
        lines = [
            f"i{item},s{system},{pool}{rater},{value},0"
            for rater, profile in enumerate(case[pool])
            for system, value in enumerate(profile)
            for item in range(2)
        ]
        sources.append(write_judgments(tmp_path / f"{pool}.csv", lines))
    result = randomisation(sources[0], "--other", sources[1], "--out", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    document = json.loads((tmp_path / "out" / "randomisation.json").read_text(encoding="utf-8"))
    found = {(row["raters"], row["average"]): row for row in document["one_against_average"]}
    assert found["first pool", "second pool"]["averages"] == pytest.approx(case["pools"], abs=1e-5)
    assert found["first pool", "second pool"]["mean"] == pytest.approx(case["mean_a_against_b"], abs=1e-5)
    assert found["first pool", "first pool"]["mean"] == pytest.approx(case["within_a_left_out"], abs=1e-5)
    assert found["second pool", "second pool"]["mean"] == pytest.approx(case["within_b_left_out"], abs=1e-5)
    assert (tmp_path / "out" / "one-against-average.svg").is_file()


def test_what_is_refused(randomisation: Run, tmp_path: Path) -> None:
    source = write_judgments(tmp_path / "judgments.csv")
    for arguments, said in (
        ((source, "--draws", 5), "--draws is 5"),
        ((source, "--seed", -1), "--seed is -1"),
        ((tmp_path / "nowhere.csv",), "nowhere.csv"),
    ):
        result = randomisation(*arguments)
        assert result.exit_code == 2
        assert result.stderr.startswith("Error: ")
        assert said in " ".join(result.stderr.split())

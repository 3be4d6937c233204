"""`python -m qc.convert`, as a user meets it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from qc.convert import save
from qc.convert.__main__ import app
from qc.loading import load
from qc.run import SIMULATED_NOTE
from tests.qc.support.same import same_run
from tests.qc.support.watched import Watched

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture
def convert() -> Callable[..., Result]:
    """Return a function that runs the command line with the given arguments."""

    def run(*arguments: object) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return run


@pytest.fixture
def refused_conversion(convert: Callable[..., Result]) -> Callable[..., str]:
    """Return a function that runs the command line, asserts that it refuses, and returns its message."""

    def run(*arguments: object) -> str:
        result = convert(*arguments)
        assert result.exit_code == 2, result.output
        assert result.stderr.startswith("Error: ")
        assert "Traceback" not in result.output
        return result.stderr

    return run


def test_a_small_run_is_written_again(
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    convert: Callable[..., Result],
    tmp_path: Path,
) -> None:
    result = convert(hits_file(small_hits), tmp_path / "run.json")
    assert result.exit_code == 0, result.output
    # 15 conversations in 5 assignments, each rated on 3 criteria.
    assert "5 assignments, 15 conversations, 45 ratings (hits" in result.stdout
    assert "Nothing is lost." in result.stdout
    same_run(load(str(tmp_path / "hits_data.json")), load(str(tmp_path / "run.json")), apart_from=("name",))


def test_what_is_lost_is_said_with_counts(
    batch: list[dict[str, str]],
    batch_file: Callable[[list[dict[str, str]]], Path],
    convert: Callable[..., Result],
    tmp_path: Path,
) -> None:
    result = convert(batch_file(batch), tmp_path / "hits.json")
    assert result.exit_code == 0, result.output
    lines = [line.strip() for line in result.stderr.splitlines()]
    assert lines == ["Not held by this format, or not as it was:", "left-out assignments: 1"]


def test_other_criteria_are_refused_by_the_mturk_form(
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    refused_conversion: Callable[..., str],
    tmp_path: Path,
) -> None:
    message = refused_conversion(hits_file(small_hits), tmp_path / "batch.csv")
    assert "ratings of 'clear' (the MTurk form has only the seven published criteria): 15" in message
    assert "ratings of 'topic', which the MTurk form needs and this run has not: 15" in message
    assert not (tmp_path / "batch.csv").exists()


def test_simulated_workers_never_pass_for_people(
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    refused_conversion: Callable[..., str],
    tmp_path: Path,
) -> None:
    small_hits["metadata"]["simulated"] = True
    path = hits_file(small_hits)
    save(load(str(path)), tmp_path / "a.json", "hits")
    assert load(str(tmp_path / "a.json")).notes == (SIMULATED_NOTE,)
    assert "all workers were simulated: 1" in refused_conversion(path, tmp_path / "batch.csv")


def test_a_terminal_that_knows_only_ascii(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path], tmp_path: Path
) -> None:
    metadata = small_hits["metadata"]
    metadata["score"]["klärend"] = metadata["score"].pop("clear")
    metadata["sorted_scores"] = list(metadata["score"])
    for assignment in small_hits["data"]:
        for conversation in assignment["result"]:
            conversation["score"]["klärend"] = conversation["score"].pop("clear")
    source = hits_file(small_hits)
    for target, code in (("läufe.json", 0), ("batch.csv", 2)):
        result = subprocess.run(
            [sys.executable, "-m", "qc.convert", source, tmp_path / target],
            env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
            capture_output=True,
            text=True,
            check=False,
            cwd=REPOSITORY,
        )
        assert (result.returncode, "Traceback" in result.stderr) == (code, False), result.stderr
    assert "ratings of 'kl?rend'" in result.stderr


def test_a_conversion_tells_each_step_and_asks_for_all_that_was_said(
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    convert: Callable[..., Result],
    tmp_path: Path,
    watch: Callable[[str], Watched],
) -> None:
    watched = watch("qc.convert.__main__")
    source, target = hits_file(small_hits), tmp_path / "run.json"
    assert convert(source, target).exit_code == 0
    said = ["Reading the run", "Checking what hits can hold", f"Writing {target}"]
    assert (watched.said, watched.announced) == (said, 3)
    assert [asked.words for asked in watched.loads] == [True]


def test_nothing_is_overwritten_unless_told_to(
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    convert: Callable[..., Result],
    refused_conversion: Callable[..., str],
    tmp_path: Path,
) -> None:
    source, target = hits_file(small_hits), tmp_path / "run.json"
    target.write_text("precious")
    assert "Give --force" in refused_conversion(source, target)
    assert target.read_text() == "precious"
    assert convert(source, target, "--force").exit_code == 0
    assert "this is the source itself" in refused_conversion(target, target, "--force")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run.txt",), "the suffix '.txt' tells no format"),
        (("run.txt", "--to", "xml"), "--to is 'xml', which is no format"),
        (("no/such/run.json",), "the file cannot be written (No such file or directory)"),
        ((".",), "tells no format"),
        ((".", "--to", "hits"), "Name a file in it"),
    ],
)
def test_a_target_that_cannot_be_is_refused(
    arguments: tuple[str, ...],
    message: str,
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    refused_conversion: Callable[..., str],
    tmp_path: Path,
) -> None:
    target, *options = arguments
    assert message in refused_conversion(hits_file(small_hits), tmp_path / target, *options)


def test_an_option_names_the_format_of_any_file(
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    convert: Callable[..., Result],
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.export"
    assert convert(hits_file(small_hits), path, "--to", "hits").exit_code == 0
    assert path.read_bytes().startswith(b"{")
    assert len(load(str(path)).assignments) == 5

"""The command line, as a user meets it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from qc.render import SHOWN_WORKERS

REPOSITORY = Path(__file__).parents[2]
FILES = {
    "report.json",
    "passrate.csv",
    "duration.csv",
    "system_scores.csv",
    "system_raw_scores.csv",
    "worker_pvalues.csv",
}


def command(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "qc.report", *map(str, arguments)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        cwd=REPOSITORY,
    )


def test_a_real_process(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path], tmp_path: Path
) -> None:
    result = command(hits_file(small_hits), "--out", tmp_path / "new" / "out")
    assert result.returncode == 0, result.stderr
    assert {path.name for path in (tmp_path / "new" / "out").iterdir()} == FILES
    assert result.stdout.index("alpha_p") < result.stdout.index("beta")
    assert "\x1b[" not in result.stdout


def test_a_real_process_that_refuses(tmp_path: Path) -> None:
    result = command(tmp_path / "nowhere.json")
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert "Traceback" not in result.stderr


def test_a_terminal_that_knows_only_ascii(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path]
) -> None:
    result = command(hits_file(small_hits), PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
    assert result.returncode == 0, result.stderr


def test_the_summary(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path], report: Callable[..., Result]
) -> None:
    output = report(hits_file(small_hits)).stdout
    rows = [line.replace("│", " ").split() for line in output.splitlines()]
    assert ["workers", "1", "4", "5", "20.0%"] in rows
    assert ["conversations", "with", "systems", "3", "8", "11", "27.3%"] in rows
    assert ["minutes", "per", "conversation", "10.00", "4.00", "5.20"] in rows
    assert [
        "cleo",
        "1.0000",
        "no",
        "variance:",
        "every",
        "conversation",
        "is",
        "rated",
        "the",
        "same",
    ] in rows
    assert ["dan", "–", "no", "conversation", "with", "the", "quality-control", "bot"] in rows
    # z: (60, 20, -20) / 3 / √(4200 / 11) as derived in test_small.py.
    systems = [row[:4] for row in rows if row and row[0] in ("alpha_p", "beta", "alpha")]
    assert systems == [
        ["alpha_p", "3", "1.024", "65.00"],
        ["beta", "3", "0.341", "51.67"],
        ["alpha", "3", "-0.341", "38.33"],
    ]
    assert "Signature: candor=" in output


def test_nothing_is_written_without_out(
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    report: Callable[..., Result],
    tmp_path: Path,
) -> None:
    report(hits_file(small_hits))
    assert [path.name for path in tmp_path.iterdir()] == ["hits_data.json"]


def test_a_long_list_of_failed_workers_is_cut_on_the_screen_only(
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    report: Callable[..., Result],
    tmp_path: Path,
) -> None:
    ben = small_hits["data"][1]
    small_hits["data"] += [{**ben, "assignment": f"A{n}", "worker": f"x{n:03}"} for n in range(100)]
    result = report(hits_file(small_hits), "--out", tmp_path / "out")
    assert f"… and {104 - SHOWN_WORKERS} more, all in report.json" in result.stdout
    content = json.loads((tmp_path / "out" / "report.json").read_text())
    assert len(content["workers"]["failed"]) == 104


def test_names_are_not_taken_for_markup(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path], report: Callable[..., Result]
) -> None:
    small_hits["data"][1]["worker"] = "[bold]ben[/bold]"
    assert "[bold]ben[/bold]" in report(hits_file(small_hits)).stdout


@pytest.mark.parametrize("arguments", [[], ["--nonsense"], ["a.json", "--alpha", "much"]])
def test_wrong_usage(arguments: list[str], report: Callable[..., Result]) -> None:
    result = report(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_help(report: Callable[..., Result]) -> None:
    result = report("--help")
    assert result.exit_code == 0
    for option in ("--run", "--out", "--alpha", "--include-partial"):
        assert option in result.stdout

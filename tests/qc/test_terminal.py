"""Commands that print the contents of untrusted files send no control characters to the terminal."""

import copy
import io
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.table import Table
from rich.text import Text
from typer.testing import CliRunner

from candor.common.terminal import Console
from qc.command import progress
from qc.report.__main__ import app as report
from tests.qc.support.small import SYSTEMS

REPOSITORY = Path(__file__).parents[2]

# Colours, a title, a clickable link, the bell, the same by single characters above 127, another direction.
EVIL = "\x1b[31mred\x1b]0;title\x07\x1b]8;;http://evil.example\x1b\\link\x9b2J\x08\x7f\r\u202edet\u2066"


def speaks(shown: str) -> set[str]:
    """Return the control characters in what was printed, but for the ends of its lines and tabs."""
    return {
        mark
        for mark in shown
        if mark not in "\n\t" and (mark < " " or "\x7f" <= mark <= "\x9f" or mark in "\u202e\u2066")
    }


def table() -> Table:
    built = Table("system", EVIL, title=EVIL)
    built.add_row("mine", Text(EVIL))
    return built


@pytest.mark.parametrize("what", [EVIL, Text(EVIL), table(), f"[bold]{EVIL}[/]"])
def test_nothing_that_is_printed_speaks_to_the_terminal(what: object) -> None:
    out = io.StringIO()
    Console(markup=False, file=out, width=200).print(what)
    assert "red" in out.getvalue()
    assert speaks(out.getvalue()) == set()


def test_lines_tabs_and_brackets_stay() -> None:
    out = io.StringIO()
    Console(markup=False, file=out, width=200).print("one\ttwo\n[three]")
    assert out.getvalue().split() == ["one", "two", "[three]"]


def test_neither_does_the_name_of_a_step() -> None:
    out = io.StringIO()
    with progress(Console(markup=False, file=out, force_terminal=True, width=200), 1) as on_step:
        on_step(f"Analysing [/nothing] {EVIL}")
    assert "Analysing [/nothing] \ufffd[31mred" in out.getvalue()
    assert "\x1b[31m" not in out.getvalue()
    assert "\x1b]" not in out.getvalue()


def on_a_terminal(*command: object) -> str:
    """Return all that a command writes to a terminal, as stdout and stderr."""
    reading, writing = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", *map(str, command)], stdout=writing, stderr=writing, cwd=REPOSITORY
    )
    os.close(writing)
    written = b""
    with io.FileIO(reading) as terminal:
        while True:
            try:
                written += (piece := terminal.read(4_096))
            except OSError:  # its end, as Linux has it
                break
            if not piece:
                break
    assert process.wait() == 0, written.decode()
    return written.decode()


def with_evil_name(hits: dict[str, Any]) -> dict[str, Any]:
    """The run, its system `beta` called by control characters."""
    evil = copy.deepcopy(hits)
    evil["metadata"]["model"] = [EVIL if name == "beta" else name for name in SYSTEMS]
    for hit in evil["data"]:
        for held in hit["result"]:
            held["model"] = EVIL if held["model"] == "beta" else held["model"]
    return evil


def test_a_report_of_a_file_with_escape_sequences_shows_them(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path]
) -> None:
    shown = on_a_terminal("qc.report", hits_file(with_evil_name(small_hits)))
    assert "\ufffd[31mred" in shown.replace("\r\n", "")
    assert "\x1b[31mred" not in shown
    assert "\x1b]" not in shown
    assert "\x07" not in shown
    assert "\x9b" not in shown


def test_no_file_of_a_report_holds_control_characters(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path], tmp_path: Path
) -> None:
    options = ["--bootstrap", "100", "--format", "html,csv,svg", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(report, [str(hits_file(with_evil_name(small_hits))), *options])
    assert result.exit_code == 0, result.output
    read = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "out").iterdir()}
    assert [name for name, text in read.items() if speaks(text) - {"\r"}] == []
    for name in ("report.html", "system_scores.csv"):
        assert "\ufffd[31mred" in read[name]

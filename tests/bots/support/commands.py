"""`candor bots` and `candor bots check` as they are typed, and what they print."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

from tests.support.waiting import ENOUGH

Command = Callable[..., Result]


def good(result: Result) -> str:
    """Return what a command that did its work has printed, its blanks made single ones."""
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.split())


def refused(result: Result, *told: str) -> str:
    """Return what a command that did not do its work has complained of."""
    assert result.exit_code == 2, result.output
    complaint = " ".join(result.stderr.split())
    assert complaint.startswith("Error:")
    assert "Traceback" not in result.output
    for words in told:
        assert words in complaint, complaint
    return complaint


def process(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of Python as a process of its own."""
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=ENOUGH, check=False)

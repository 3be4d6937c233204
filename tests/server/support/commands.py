"""`candor` as it is typed, and what a refusal of it looks like."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

from tests.support.waiting import ENOUGH

REPOSITORY = Path(__file__).parents[3]
Candor = Callable[..., Result]


def process(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command as a user does."""
    return subprocess.run(
        [sys.executable, "-m", "server", *map(str, arguments)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=ENOUGH,
        check=False,
    )


def assert_refused(done: Result, *reasons: str) -> None:
    """A clear message, exit status 2, and no exception that would be printed as a traceback."""
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == 2, done.output
    assert "Traceback" not in done.output
    for reason in reasons:
        assert reason in done.stderr, done.stderr

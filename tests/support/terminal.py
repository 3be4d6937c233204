"""A command as somebody runs it who sits at a terminal, and what they type there."""

import os
import pty
import subprocess
from collections.abc import Mapping, Sequence

from tests.support.waiting import ENOUGH


def at_a_terminal(
    command: Sequence[str], typed: str, environment: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Run a command whose standard input is a terminal; return its status and all that it has printed."""
    ours, theirs = pty.openpty()
    try:
        with subprocess.Popen(
            command,
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | {"COLUMNS": "200"} | dict(environment or {}),
        ) as process:
            os.write(ours, typed.encode())
            said, _ = process.communicate(timeout=ENOUGH)
        return process.returncode, said
    finally:
        os.close(ours)
        os.close(theirs)

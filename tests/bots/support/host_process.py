"""`python -m bots.host` as a process of its own."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

COMMAND = [sys.executable, "-m", "bots.host"]
REPOSITORY = Path(__file__).parents[3]


@contextmanager
def running(*arguments: str, ready: int = 1) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and its address, with `ready` models loaded."""
    process = subprocess.Popen(
        [*COMMAND, *arguments, "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=REPOSITORY,
    )
    try:
        assert process.stdout is not None
        url, lines = "", []
        while ready:
            line = process.stdout.readline()
            assert line, f"the host ended:\n{''.join(lines)}"
            lines.append(line)
            if found := re.match(r"Listening on (\S+)", line):
                url = found[1]
            ready -= line.startswith("Ready: ")
        yield process, url
    finally:
        process.kill()
        process.communicate()

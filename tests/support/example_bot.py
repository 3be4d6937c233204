"""The bot of the documents, as a process of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.local_process import free_port
from tests.support.waiting import ENOUGH

EXAMPLE = Path(__file__).parents[2] / "docs" / "http_bot_example.py"


@contextmanager
def example_bot() -> Iterator[str]:
    """Serve it; yield its address."""
    port = free_port()
    with subprocess.Popen([sys.executable, str(EXAMPLE), str(port)]) as process:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(ENOUGH)

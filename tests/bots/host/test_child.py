"""The bot host that a server starts for its builtin bots, and how it ends."""

import os
import subprocess
import sys

from tests.support.waiting import ENOUGH


def test_a_host_whose_server_dies_before_it_has_started_ends_without_a_word() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "bots.host.child"]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=writing, stderr=subprocess.PIPE, timeout=ENOUGH, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")

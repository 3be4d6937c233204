"""The bot host that a server starts for its builtin bots, and how it ends."""

import io
import os
import subprocess
import sys
import time

import pytest

from bots.host.child import LineWriter
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


def test_replies_that_come_quickly_one_after_the_other_are_written_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 50.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    pipe = io.BytesIO()
    writer = LineWriter(pipe)
    writer.add("1")
    writer.add("2")
    assert pipe.getvalue() == b""
    now += 0.0015
    writer.add("3")  # the first has waited for long enough
    assert pipe.getvalue() == b"1\n2\n3\n"
    writer.add("4")
    assert pipe.getvalue() == b"1\n2\n3\n"
    writer.flush()
    assert pipe.getvalue() == b"1\n2\n3\n4\n"

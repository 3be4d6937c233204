"""One server to an SQLite file, by a lock that the kernel keeps."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from server.db.engine.damage import sole_server
from server.errors import DatabaseInUse
from tests.server.support.commands import REPOSITORY, Candor, assert_refused

_HOLD = """
import sys
from server.db.engine.damage import sole_server
with sole_server(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def holding(url: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLD, url],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_server_is_refused_and_commands_are_not(candor: Candor, url: str, tmp_path: Path) -> None:
    with holding(url) as process:
        refused = candor("serve", "--data", tmp_path, CANDOR_DATABASE_URL=url)
        assert_refused(refused, f"another server (process {process.pid})", "candor.db", "use PostgreSQL")
        assert candor("study", "list", "--data", tmp_path, CANDOR_DATABASE_URL=url).exit_code == 0
        process.kill()
    with sole_server(url):
        pass


def test_a_server_that_was_killed_holds_nothing(url: str, tmp_path: Path) -> None:
    with holding(url) as process:
        with pytest.raises(DatabaseInUse), sole_server(url):
            pass
        process.send_signal(signal.SIGKILL)
    with sole_server(url):
        lock = next(tmp_path.glob("*.serving"))
        assert lock.stat().st_mode & 0o777 == 0o600


@pytest.mark.databases("postgresql")
def test_many_may_serve_one_postgresql(url: str) -> None:
    with sole_server(url), sole_server(url):
        pass

"""A backup of a server under load, restored elsewhere: all that was acknowledged before it is there."""

import json
import shutil
import sqlite3
import stat
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from server.cli.command_line import cli
from tests.crowd.test_crowd import open_demo
from tests.support.server_process import Server
from tests.support.waiting import ENOUGH, wait_until

pytestmark = pytest.mark.timeout(2 * ENOUGH)
INPUTS = 6  # of a conversation
FIRST = 20  # acknowledged lines before the backup is made


def candor(*arguments: object) -> Result:
    """Run a command in this process, which is not the server's."""
    return CliRunner().invoke(cli, list(map(str, arguments)))


def said(log: Path) -> set[str]:
    """Return the ids of the lines that a crowd was told are stored; its last line may be half written."""
    lines = log.read_text().rpartition("\n")[0].splitlines()
    entries = [json.loads(line)["message"] for line in lines]
    return {message["id"] for message in entries if message["type"] == "say"}


def rows(database: Path) -> dict[str, set[tuple[Any, ...]]]:
    """Return the rows of every table of a database."""
    with closing(sqlite3.connect(database)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {name: set(connection.execute(f"SELECT * FROM {name}")) for (name,) in tables}  # noqa: S608


def test_a_backup_under_load_has_all_that_was_acknowledged(server: Server, tmp_path: Path) -> None:
    open_demo(server, "backed-up", INPUTS)
    server.start()
    log, file = tmp_path / "acknowledged.jsonl", tmp_path / "candor.tar"
    log.touch()
    # Replies take their time, or the crowd is done before a busy machine has made the backup.
    crowd = server.crowd("backed-up", "--workers", "5", "--reply-pace", "0.1", "--log", str(log))
    wait_until(lambda: len(said(log)) >= FIRST, "the crowd to be in the middle of it")
    before = said(log)
    made = candor("data", "backup", file, "--data", server.data)
    assert made.exit_code == 0, made.stderr
    assert crowd.poll() is None, "the crowd was gone too early"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    output, _ = crowd.communicate(timeout=ENOUGH)
    assert crowd.returncode == 0, output

    restored = Server(tmp_path / "elsewhere")
    done = candor("data", "restore", file, "--data", restored.data)
    assert done.exit_code == 0, done.stderr
    assert {stat.S_IMODE(path.stat().st_mode) for path in restored.data.iterdir()} == {0o600}
    assert restored.token == server.token
    with sqlite3.connect(restored.data / "candor.db") as database:
        stored = {id_ for (id_,) in database.execute("SELECT client_id FROM turn WHERE author = 'worker'")}
    assert before <= stored <= said(log)
    # What was restored is what is in the archive, which is one moment of what was served.
    with tarfile.open(file) as tar:
        tar.extract("candor.db", tmp_path / "archived", filter="data")
    held, later = rows(restored.data / "candor.db"), rows(server.data / "candor.db")
    assert held == rows(tmp_path / "archived" / "candor.db")
    assert {table for table, content in held.items() if content} >= {"turn", "topic_mark", "worker"}
    for only_added_to in ("turn", "topic_mark", "worker", "rating"):
        assert held[only_added_to] <= later[only_added_to]
    shutil.copy(server.data / "worker-ids.key", restored.data)  # it is in no backup
    restored.start()
    crowd = restored.crowd("backed-up", "--workers", "2")
    output, _ = crowd.communicate(timeout=ENOUGH)
    restored.stop()
    assert crowd.returncode == 0, output
    assert candor("data", "audit", "--data", restored.data).exit_code == 0


def test_nothing_is_written_over(tmp_path: Path) -> None:
    server = Server(tmp_path / "data")
    server.data.mkdir()
    server.start()
    server.stop()
    file = tmp_path / "candor.tar"
    assert candor("data", "backup", file, "--data", server.data).exit_code == 0
    again = candor("data", "backup", file, "--data", server.data)
    assert (again.exit_code, again.stderr.splitlines()[0]) == (2, f"Error: {file} exists")
    onto = candor("data", "restore", file, "--data", server.data)
    assert onto.exit_code == 2
    assert onto.stderr.splitlines()[0] == f"Error: {server.data / 'candor.db'} exists"
    with sqlite3.connect(server.data / "candor.db") as database:
        assert database.execute("SELECT count(*) FROM run").fetchone() == (1,)


def test_what_is_no_backup_is_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.tar"
    wrong.write_text("not a tar")
    done = candor("data", "restore", wrong, "--data", tmp_path / "data")
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 2)
    assert f"{wrong} is not a backup" in done.stderr
    assert not (tmp_path / "data" / "candor.db").exists()


def test_without_an_installation_there_is_nothing_to_back_up(tmp_path: Path) -> None:
    done = candor("data", "backup", tmp_path / "candor.tar", "--data", tmp_path / "none")
    assert done.exit_code == 2
    assert "there is no" in done.stderr
    assert not list(tmp_path.iterdir())

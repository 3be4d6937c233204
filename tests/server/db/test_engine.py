"""Tests of opening a database: its files' permissions and errors, damage of SQLite files, the only server."""

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from server.access.auth import make_secrets
from server.bots.lineup import OpenRun
from server.bots.opened_bots import OpenedBots
from server.cli.serve import prepare
from server.config import Settings
from server.db.engine import keep_log, migrate, open_engine, require_sound, sole_server
from server.db.store import Store
from server.errors import DatabaseDamaged, DatabaseInUse, StorageDamaged
from tests.needs import need_programs
from tests.server.support.commands import REPOSITORY, Candor, assert_refused
from tests.server.support.database import make_run, query
from tests.server.support.server import House
from tests.support.waiting import ENOUGH


class Contended(sqlite3.Connection):
    """A connection whose first change of mode meets another's: SQLite then fails at once, without waiting."""

    tries = 0

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        self.tries += 1
        if self.tries == 1:
            raise sqlite3.OperationalError("database is locked")
        return super().execute(sql, parameters)


def test_who_meets_another_that_opens_a_new_database_tries_again(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "new.db", factory=Contended)) as connection:
        keep_log(connection)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.tries == 3


def test_only_its_owner_can_read_a_new_database(tmp_path: Path) -> None:
    path = tmp_path / "new" / "candor.db"
    migrate(f"sqlite:///{path}")
    engine = open_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE more (x)"))
        modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    engine.dispose()
    assert {"candor.db", "candor.db-wal"} <= modes.keys()
    assert set(modes.values()) == {0o600}


SAID = "my secret"


@pytest.mark.databases("sqlite", "postgresql")
@pytest.mark.parametrize("rule", ["CHECK (length(said) < 3)", "UNIQUE"])
def test_what_workers_say_is_in_no_error_of_the_database(url: str, rule: str) -> None:
    """Nor in what it was raised from: PostgreSQL adds the whole row that breaks a rule."""
    engine = open_engine(url)
    insert = text("INSERT INTO told VALUES (:said), (:said)")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE TEMPORARY TABLE told (said TEXT {rule})"))
        with pytest.raises(DBAPIError) as caught:
            connection.execute(insert, {"said": SAID})
    engine.dispose()
    logged = "".join(traceback.format_exception(caught.value))
    assert "told" in logged
    assert SAID not in logged


PAGE = 4096
WORDS = "the same words on many pages " * 20


def overwrite(path: Path, page: int) -> None:
    """Put random bytes in the place of a page, the first of which is 0."""
    with path.open("r+b") as file:
        file.seek(page * PAGE)
        file.write(os.urandom(PAGE))


def filled(path: Path, rows: int = 400) -> None:
    """Add a table of some pages to a database, and leave no log beside it."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE filler (words TEXT)")
        connection.executemany("INSERT INTO filler VALUES (?)", [(WORDS,)] * rows)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def page_of(path: Path, table: str) -> int:
    """Return the number of the page at which a table begins, from 0."""
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [table]).fetchone()
    return int(root) - 1


@pytest.fixture
def installation(tmp_path: Path, migrated: Path) -> Path:
    """The folder of an installation with a database of some hundred pages."""
    folder = tmp_path / "data"
    folder.mkdir()
    shutil.copy(migrated, folder / "candor.db")
    filled(folder / "candor.db")
    make_secrets(folder)
    return folder


def test_a_page_in_the_middle_is_missed_by_nobody(candor: Candor, installation: Path, tmp_path: Path) -> None:
    database, backup = installation / "candor.db", tmp_path / "earlier.tar"
    assert candor("data", "audit", "--data", installation).exit_code == 0
    assert candor("data", "backup", backup, "--data", installation).exit_code == 0
    overwrite(database, database.stat().st_size // PAGE // 2)
    is_said = (f"The database {database} is damaged", f"the last one that was made is {backup}", ".dump")
    with pytest.raises(DatabaseDamaged) as found:
        prepare(Settings(data=installation), OpenedBots(refuse_private=False))
    assert all(part in f"{found.value.message} {found.value.hint}" for part in is_said)
    assert_refused(candor("data", "audit", "--data", installation), *is_said)
    later = tmp_path / "later.tar"
    assert_refused(candor("data", "backup", later, "--data", installation), *is_said)
    assert not later.exists()
    backup.unlink()
    assert_refused(candor("data", "audit", "--data", installation), "restore your newest backup")


def test_without_a_backup_the_command_that_is_named_saves_the_rest(
    candor: Candor, installation: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_programs("sqlite3")
    database = installation / "candor.db"
    with closing(sqlite3.connect(database)) as connection:
        tables = "SELECT type, name FROM sqlite_master ORDER BY name"
        names = connection.execute(tables).fetchall()
        last = connection.execute("SELECT max(rootpage) FROM sqlite_master").fetchone()[0]
    overwrite(database, last + 3)  # behind the root of the filler, thus one of its leaves
    refused = candor("data", "audit", "--data", installation)
    (command,) = re.findall(r"`(sqlite3 .*)`", refused.stderr.replace("\n", " "))
    monkeypatch.chdir(installation)
    subprocess.run(command, shell=True, check=False, capture_output=True, timeout=ENOUGH)  # noqa: S602
    database.unlink()
    (installation / "saved.db").rename(database)
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute(tables).fetchall() == names
        assert 300 < connection.execute("SELECT count(*) FROM filler").fetchone()[0] < 400
    assert candor("data", "audit", "--data", installation).exit_code == 0


def test_an_empty_file_in_the_place_of_a_database_is_not_taken_for_a_new_one(
    candor: Candor, installation: Path
) -> None:
    database = installation / "candor.db"
    database.write_bytes(b"")
    with pytest.raises(DatabaseDamaged, match="the file is empty"):
        prepare(Settings(data=installation), OpenedBots(refuse_private=False))
    assert_refused(
        candor("data", "audit", "--data", installation), "the file is empty", "candor data restore"
    )
    assert database.read_bytes() == b""


def test_a_database_whose_beginning_is_damaged_is_said_to_be(candor: Candor, installation: Path) -> None:
    overwrite(installation / "candor.db", 0)
    for command in (["data", "audit"], ["study", "list"], ["data", "backup", installation / "x.tar"]):
        refused = candor(*command, "--data", installation)
        assert_refused(
            refused, f"The database {installation / 'candor.db'} cannot be opened", "its beginning"
        )
        assert "candor data restore" in refused.stderr


def test_references_to_rows_that_are_missing_are_found_by_the_audit(
    candor: Candor, installation: Path
) -> None:
    with closing(sqlite3.connect(installation / "candor.db")) as connection, connection:
        connection.execute("PRAGMA foreign_keys=OFF")
        connection.execute("INSERT INTO excluded_worker (run_id, external_id) VALUES (77, 'nobody')")
    refused = candor("data", "audit", "--data", installation)
    assert_refused(refused, "1 of excluded_worker, of run", "candor data restore")


def test_what_a_start_looks_at_is_the_pages_and_the_audit_the_indexes_too(installation: Path) -> None:
    database = installation / "candor.db"
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE INDEX by_words ON filler (words) WHERE words = ''")
        connection.execute("PRAGMA writable_schema=ON")
        of_all = "UPDATE sqlite_master SET sql = 'CREATE INDEX by_words ON filler (words)' WHERE name = ?"
        connection.execute(of_all, ["by_words"])
    require_sound(database, whole=False)
    with pytest.raises(DatabaseDamaged, match="by_words"):
        require_sound(database, whole=True)


def test_damage_found_while_serving_is_said_by_the_log_the_desk_and_its_readiness(
    url: str, serve: Callable[..., House], capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run(url)
    path = Path(url.removeprefix("sqlite:///"))
    house = serve(url, run)
    assert house.http("GET", "/readyz").json()["database"] == "ok"
    query(url, "PRAGMA wal_checkpoint(TRUNCATE)")
    overwrite(path, page_of(path, "draft"))
    said = StorageDamaged()
    refused = house.desk("/studies")
    assert refused.status_code == 503
    assert refused.json()["error"] == {"code": "storage_failed", "message": said.message, "hint": said.hint}
    ready = house.http("GET", "/readyz")
    assert (ready.status_code, ready.json()["database"]) == (503, "is damaged")
    assert said.message in capsys.readouterr().out
    urgent = house.desk(f"/runs/{run.slug}").json()["attention"][0]
    assert (urgent["urgent"], urgent["text"]) == (True, f"{said.message}. {said.hint}")


async def test_the_caller_of_the_store_is_told_of_the_damage(url: str, run: OpenRun) -> None:
    path = Path(url.removeprefix("sqlite:///"))
    query(url, "PRAGMA wal_checkpoint(TRUNCATE)")
    overwrite(path, page_of(path, "analysis_point"))
    store = Store(url)
    store.start()
    try:
        assert not store.is_damaged
        with pytest.raises(StorageDamaged, match="The database is damaged"):
            await store.read(lambda c: c.exec_driver_sql("SELECT * FROM analysis_point").all())
        assert store.is_damaged
        with pytest.raises(StorageDamaged):
            await store.submit(
                lambda c: c.exec_driver_sql("INSERT INTO analysis_point VALUES (1, 1, '[]')").close()
            )
        assert await store.read(lambda c: c.exec_driver_sql("SELECT slug FROM run").scalar()) == run.slug
    finally:
        store.stop()


_HOLD = """
import sys
from server.db.engine import sole_server
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
        assert_refused(refused, f"Another server (process {process.pid})", "candor.db", "use PostgreSQL")
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

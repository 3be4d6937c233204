"""Ids of workers in the database: none in plain text, whatever was there before."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import Connection, text

from bots import BotError
from server.db.engine import alembic_config, migrate, open_engine
from server.db.secrets import encrypt_again, require_key
from server.errors import DatabaseUnfit
from server.process.logs import configure_logging
from server.recruiters.arrival import IdCipher
from tests.server.support.bots import Raises
from tests.server.support.database import execute, make_run, query
from tests.server.support.server import House
from tests.server.support.study import RUN

OLD, NEW = IdCipher(["an old key"]), IdCipher(["a new key"])
BOTH = IdCipher(["a new key", "an old key"])


@contextmanager
def transaction(url: str) -> Iterator[Connection]:
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


def ids(url: str) -> list[tuple[str, ...]]:
    excluded = query(url, "SELECT external_id FROM excluded_worker")
    return excluded + query(url, "SELECT external_id FROM worker ORDER BY pseudonym")


def fill(url: str, cipher: IdCipher | None) -> None:
    """Put Eve, who may not come, and Ann and Bob into the database."""
    run = make_run(url)
    eve, ann, bob = (cipher.encrypted(name) if cipher else name for name in ("eve", "ann", "bob"))
    execute(url, "INSERT INTO excluded_worker (run_id, external_id) VALUES (?, ?)", run.id, eve)
    for external_id, pseudonym in ((ann, "W1"), (bob, "W2")):
        new = "INSERT INTO worker (platform, external_id, pseudonym) VALUES ('link', ?, ?)"
        execute(url, new, external_id, pseudonym)


def encrypted(cipher: IdCipher) -> list[tuple[str, ...]]:
    return [(cipher.encrypted(name),) for name in ("eve", "ann", "bob")]


@pytest.mark.databases("sqlite", "postgresql")
def test_a_database_with_plain_ids_is_encrypted_and_back(url: str) -> None:
    fill(url, NEW)
    command.downgrade(alembic_config(url, lambda: NEW), "0030")
    assert ids(url) == [("eve",), ("ann",), ("bob",)]
    with pytest.raises(DatabaseUnfit, match="the key for them is missing"):
        migrate(url)
    assert ids(url) == [("eve",), ("ann",), ("bob",)]
    migrate(url, lambda: NEW)
    assert ids(url) == encrypted(NEW)


@pytest.mark.databases("sqlite", "postgresql")
def test_a_new_key_before_the_old_one_is_used_for_all(url: str) -> None:
    fill(url, OLD)
    with transaction(url) as connection:
        assert encrypt_again(connection, BOTH) == 3
    assert ids(url) == encrypted(NEW)
    with transaction(url) as connection:
        assert encrypt_again(connection, NEW) == 0


def steps_to_encrypt_again(url: str, workers: int, before: IdCipher, now: IdCipher) -> int:
    """Return how much SQLite does, in hundreds of its instructions, for so many workers."""
    steps = count(1)
    with transaction(url) as connection:
        connection.execute(text("DELETE FROM worker"))
        new = text("INSERT INTO worker (platform, external_id, pseudonym) VALUES ('link', :kept, :kept)")
        connection.execute(new, [{"kept": before.encrypted(str(number))} for number in range(workers)])
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        driver.set_progress_handler(lambda: 0 * next(steps), 100)
        assert encrypt_again(connection, now) == (workers if before is not now else 0)
        driver.set_progress_handler(None, 0)
    return next(steps)


def test_a_new_key_takes_time_of_the_order_of_all_workers(url: str) -> None:
    migrate(url)
    few, many = (steps_to_encrypt_again(url, number, OLD, BOTH) for number in (200, 800))
    assert many < 6 * few  # four times as much, not sixteen times


def test_a_start_with_the_key_as_ever_looks_at_no_worker(url: str) -> None:
    fill(url, NEW)
    with transaction(url) as connection:
        encrypt_again(connection, NEW)
    few, many = (steps_to_encrypt_again(url, number, NEW, NEW) for number in (200, 800))
    assert many == few


def test_without_the_key_nothing_is_changed(url: str) -> None:
    fill(url, OLD)
    with pytest.raises(DatabaseUnfit, match="under another key"), transaction(url) as connection:
        encrypt_again(connection, NEW)
    assert ids(url) == encrypted(OLD)


@pytest.mark.databases("sqlite", "postgresql")
def test_two_servers_with_different_keys_are_told_apart_before_anybody_comes(url: str) -> None:
    with transaction(url) as connection:
        assert encrypt_again(connection, OLD) == 0
    with transaction(url) as connection, pytest.raises(DatabaseUnfit, match="another key") as refused:
        encrypt_again(connection, NEW)
    assert "CANDOR_WORKER_ID_KEY" in refused.value.hint
    with transaction(url) as connection:
        encrypt_again(connection, BOTH)  # the key is replaced
    with transaction(url) as connection:
        require_key(connection, NEW)
        with pytest.raises(DatabaseUnfit):
            require_key(connection, OLD)


@pytest.mark.usefixtures("log_as_before")
def test_no_id_is_in_the_database_nor_in_a_log(
    url: str, serve: Callable[..., House], capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logging()
    house = serve(url, make_run(url, bots=Raises(BotError("out of order"), times=1)))
    with house.page("PID-4711") as page:
        page.whole()
    assert house.join("PID-4711", run="nowhere").status_code == 404
    assert house.http("GET", f"/w/{RUN}?PROLIFIC_PID=PID-4711").status_code == 200
    assert house.join("PID-4711", signature="wrong").status_code == 403
    assert house.desk(f"/runs/{RUN}/worker-ids?external_id=PID-4711").status_code == 200
    house.stop()
    said = capsys.readouterr().err
    assert "bot" in said, "something was logged"
    assert "PID-4711" not in said
    assert b"PID-4711" not in Path(url.removeprefix("sqlite:///")).read_bytes()
    assert query(url, "SELECT external_id FROM worker") == [(house.kept("PID-4711"),)]

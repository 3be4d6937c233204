"""A source is opened once, whatever is then asked of it."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from typer.testing import Result

from qc.convert import save
from qc.errors import SourceError
from qc.loading import LoadOptions, holds_run, is_database, load, open_source, read_run
from tests.qc.support.same import same_run

listeners: list[list[str]] = []


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("open", "sqlite3.connect"):
        for heard in listeners:
            heard.append(f"{event} {arguments[0]}")


@pytest.fixture(scope="module", autouse=True)
def hook() -> None:
    """Have every opening by this process reported; a hook of Python's cannot be removed."""
    sys.addaudithook(_hear)


@contextmanager
def opened() -> Iterator[list[str]]:
    """Yield the list of what is opened until the `with` ends."""
    heard: list[str] = []
    listeners.append(heard)
    try:
        yield heard
    finally:
        listeners.pop()


def of(path: Path, events: list[str]) -> list[str]:
    """Return by which events `path` was opened, in this order."""
    return [event.partition(" ")[0] for event in events if str(path) in event]


def test_a_file_is_opened_once(
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    report: Callable[..., Result],
    tmp_path: Path,
) -> None:
    path = tmp_path / "run"
    save(load(hits_file(small_hits)), path, "hits")
    with opened() as events:
        assert report(path, "--only", "criteria").exit_code == 0
    assert of(path, events) == ["open"]


def test_a_database_is_looked_at_once_and_connected_to_once(
    database: Any, report: Callable[..., Result]
) -> None:
    database.add_run("r2", "second")
    for worker in ("anna", "ben"):
        database.add_assignment("r2", worker)
    for source in (database.path, database.url):
        with opened() as events:
            found = report(source, "--run", "first", "--replicate", "second", "--only", "replication")
            assert found.exit_code == 0
        assert of(database.path, events) == ["open", "sqlite3.connect"]


def test_both_runs_of_a_database_are_of_one_moment(database: Any) -> None:
    database.execute("PRAGMA journal_mode = WAL")  # as the server has it, so that it may write meanwhile
    with open_source(database.url) as source:
        assert (is_database(source), holds_run(source, "first"), holds_run(source, "second")) == (
            True,
            True,
            False,
        )
        database.add_run("r2", "second")
        assert not holds_run(source, "second")
        assert read_run(source, LoadOptions()).name == "first"
    with open_source(database.url) as source:
        assert holds_run(source, "second")


def test_a_text_may_come_through_a_pipe(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path], tmp_path: Path
) -> None:
    run, pipe = load(hits_file(small_hits)), tmp_path / "pipe"
    save(run, tmp_path / "run", "hits")
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_bytes, args=[(tmp_path / "run").read_bytes()])
    writer.start()
    same_run(run, load(pipe), apart_from=("name",))
    writer.join()


def test_a_file_is_no_database_and_holds_no_named_run(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path]
) -> None:
    path = hits_file(small_hits)
    with open_source(str(path)) as source:
        assert not is_database(source)
        assert not holds_run(source, "hits_data")


def test_a_file_is_closed_when_the_work_on_it_ends(
    small_hits: dict[str, Any], hits_file: Callable[[object], Path]
) -> None:
    with open_source(str(hits_file(small_hits))) as source:
        read_run(source, LoadOptions())
    with pytest.raises(ValueError, match="closed file"):
        read_run(source, LoadOptions())


def test_a_folder_is_no_source(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="this is a directory"), open_source(str(tmp_path)):
        pass


@pytest.mark.parametrize("content", [b'{"format":"candor-run","version":1}\n', b"PAR1 and more, PAR1"])
def test_the_format_that_was_dropped_is_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(content)
    with pytest.raises(SourceError, match=r"candor-run .* was dropped\. Export the run again"):
        load(tmp_path / "run")

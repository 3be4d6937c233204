"""The audit log: written with what it tells of, found by filters, never changed."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from server.clock import utc_now
from server.db.audit import AuditFilter, CommandLine, entries, record
from server.db.engine import open_engine

ROWS = [("run.open", "pilot"), ("run.close", "pilot"), ("token.new", "gpu"), ("run_notes.read", "main")]


@pytest.fixture
def connection(url: str) -> Iterator[Connection]:
    """A transaction on a database with a log of four rows."""
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        for action, subject in ROWS:
            record(connection, CommandLine(), action, subject, "as asked")
        yield connection
    engine.dispose()


@pytest.mark.databases("sqlite", "postgresql")
@pytest.mark.parametrize(
    "change", ["UPDATE audit_entry SET actor = 'nobody'", "DELETE FROM audit_entry WHERE id = 1"]
)
def test_a_row_is_never_changed(connection: Connection, change: str) -> None:
    savepoint = connection.begin_nested()
    with pytest.raises(DBAPIError, match="the audit log is only added to"):
        connection.execute(text(change))
    savepoint.rollback()
    found = entries(connection, AuditFilter())
    assert [(entry.action, entry.subject) for entry in found] == ROWS[::-1]
    assert {(entry.kind, entry.actor, entry.detail) for entry in found} == {
        ("command", "command line", "as asked")
    }


@pytest.mark.databases("postgresql")
def test_nor_are_all_rows_at_once(connection: Connection) -> None:
    savepoint = connection.begin_nested()
    with pytest.raises(DBAPIError, match="the audit log is only added to"):
        connection.execute(text("TRUNCATE audit_entry"))
    savepoint.rollback()


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (AuditFilter(action="run."), ["run.close", "run.open"]),
        (AuditFilter(action="run"), ["run_notes.read", "run.close", "run.open"]),
        (AuditFilter(action="run_"), ["run_notes.read"]),
        (AuditFilter(subject="gpu"), ["token.new"]),
        (AuditFilter(subject="gpu", action="run"), []),
        (AuditFilter(actor="command line", before=3), ["run.close", "run.open"]),
        (AuditFilter(actor="somebody"), []),
        (AuditFilter(since=utc_now() + timedelta(days=1)), []),
        (AuditFilter(until=utc_now() - timedelta(days=1)), []),
        (AuditFilter(since=utc_now() - timedelta(days=1), action="token"), ["token.new"]),
    ],
)
def test_rows_are_found_by_filters(connection: Connection, wanted: AuditFilter, found: list[str]) -> None:
    assert [entry.action for entry in entries(connection, wanted)] == found


def test_the_newest_rows_come_first_and_no_more_than_asked(connection: Connection) -> None:
    assert [entry.subject for entry in entries(connection, AuditFilter(), most=2)] == ["main", "gpu"]

"""Several statements as one of SQLite's: all of them, or none."""

import sqlite3
from collections.abc import Iterator

import pytest

from server.db.bulk import Bulk, Kind, OneStatement

FIRST = Bulk(
    "UPDATE item SET at = given.at FROM {rows} AS given WHERE item.id = given.id",
    id=Kind.NUMBER,
    at=Kind.NUMBER,
)
NOTE = Bulk(
    "INSERT INTO note ({columns}) SELECT {columns} FROM {rows} AS given", item=Kind.NUMBER, text=Kind.TEXT
)
COPY = Bulk(
    "INSERT INTO copy SELECT text FROM note WHERE item IN (SELECT given.item FROM {rows} AS given)",
    item=Kind.NUMBER,
)


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    opened = sqlite3.connect(":memory:", isolation_level=None)
    opened.execute("PRAGMA foreign_keys = ON")
    opened.executescript(
        """
        CREATE TABLE item (id INTEGER PRIMARY KEY, at INTEGER);
        CREATE TABLE note (item INTEGER REFERENCES item (id), text TEXT UNIQUE);
        CREATE TABLE copy (text TEXT);
        INSERT INTO item VALUES (1, 0), (2, 0);
        """
    )
    yield opened
    opened.close()


def kept(connection: sqlite3.Connection) -> tuple[list[int], list[str], list[str]]:
    ats, notes, copies = (
        [value for (value,) in connection.execute(query)]
        for query in ("SELECT at FROM item ORDER BY id", "SELECT text FROM note", "SELECT text FROM copy")
    )
    return ats, notes, copies


def test_statements_are_run_in_their_order_over_all_of_their_rows(connection: sqlite3.Connection) -> None:
    statement = OneStatement([NOTE, COPY], first=FIRST)
    # COPY reads what NOTE has written, though it is given first.
    rows = {COPY: [(2,)], NOTE: [(1, "a 'quoted' one"), (2, "日本")]}
    statement.execute(connection.execute, rows, [(1, 5), (2, 6)])
    assert kept(connection) == ([5, 6], ["a 'quoted' one", "日本"], ["日本"])
    assert not connection.in_transaction


def test_what_is_not_chosen_is_not_run(connection: sqlite3.Connection) -> None:
    statement = OneStatement([NOTE, COPY], first=FIRST)
    statement.execute(connection.execute, {NOTE: [(1, "one")]}, [(1, 5)])
    statement.execute(connection.execute, {}, [(1, 6)])
    assert kept(connection) == ([6, 0], ["one"], [])


@pytest.mark.parametrize(
    ("owned", "notes"),
    [
        pytest.param([(1, 5), (3, 5)], [(1, "one")], id="first finds no row"),
        pytest.param([(1, 5)], [(1, "one"), (1, "one")], id="a row is there already"),
        pytest.param([(1, 5)], [(1, "one"), (3, "orphan")], id="a row belongs to nothing"),
    ],
)
def test_where_one_row_cannot_be_written_nothing_is(
    connection: sqlite3.Connection, owned: list[tuple[int, int]], notes: list[tuple[int, str]]
) -> None:
    statement = OneStatement([NOTE, COPY], first=FIRST)
    with pytest.raises(sqlite3.IntegrityError):
        statement.execute(connection.execute, {NOTE: notes}, owned)
    assert kept(connection) == ([0, 0], [], [])
    assert not connection.in_transaction


def test_each_connection_gets_its_own_triggers(connection: sqlite3.Connection) -> None:
    statement, other = OneStatement([NOTE], first=FIRST), sqlite3.connect(":memory:", isolation_level=None)
    other.executescript("CREATE TABLE item (id INTEGER, at INTEGER); CREATE TABLE note (item, text)")
    other.execute("INSERT INTO item VALUES (1, 0)")
    for each in (connection, other, connection):
        statement.execute(each.execute, {}, [(1, 5)])
    assert other.execute("SELECT at FROM item").fetchall() == [(5,)]
    other.close()


def test_more_choices_than_are_kept_share_a_trigger(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.db.bulk._MOST", 1)
    statement = OneStatement([NOTE, COPY], first=FIRST)
    statement.execute(connection.execute, {}, [(1, 1)])
    statement.execute(connection.execute, {NOTE: [(1, "one")]}, [(1, 2)])
    statement.execute(connection.execute, {COPY: [(1,)]}, [(1, 3)])
    made = connection.execute("SELECT count(*) FROM sqlite_temp_master WHERE type = 'trigger'").fetchone()
    assert made == (2,)
    assert kept(connection) == ([3, 0], ["one"], ["one"])


def test_without_a_first_statement_others_are_run_within_the_transaction_that_is_open(
    connection: sqlite3.Connection,
) -> None:
    statement = OneStatement([NOTE, COPY])
    connection.execute("BEGIN")
    statement.execute(connection.execute, {COPY: [(1,)], NOTE: [(1, "one")]})
    assert connection.in_transaction
    connection.execute("ROLLBACK")
    assert kept(connection) == ([0, 0], [], [])
    # The trigger went with the transaction.
    statement.execute(connection.execute, {COPY: [(1,)], NOTE: [(1, "two")]})
    assert kept(connection) == ([0, 0], ["two"], ["two"])


def test_a_table_that_is_missing_is_told(connection: sqlite3.Connection) -> None:
    connection.execute("DROP TABLE copy")
    with pytest.raises(sqlite3.OperationalError, match="no such table: copy"):
        OneStatement([NOTE, COPY]).execute(connection.execute, {COPY: [(1,)], NOTE: [(1, "one")]})
    assert kept_notes(connection) == []


def kept_notes(connection: sqlite3.Connection) -> list[str]:
    return [text for (text,) in connection.execute("SELECT text FROM note")]

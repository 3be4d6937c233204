"""Statements over any number of rows each, which SQLite runs as one: within one step, and with its commit.

Python's interpreter is given away for each statement and taken back after it, and beside a busy event loop
whoever takes it back waits for half a millisecond: a transaction of five statements for more than two. A
trigger of the connection's own runs as many as there are, while the event loop keeps it.
"""

import sqlite3
from collections.abc import Mapping, Sequence

from server.db.bulk import Bulk, Row, as_parameter

_MOST = 100  # choices of statements with a trigger of their own; others share one that has them all


class OneStatement:
    """Runs any choice of some statements, in their order, on a connection to SQLite that commits by itself.

    Args:
        first: Has to change a row of the database for each of its rows, or nothing is done.
        others: What else may be run, in the order in which it is.
    """

    def __init__(self, first: Bulk, others: Sequence[Bulk]) -> None:
        self._first = first
        self._all = tuple(others)
        self._made: dict[tuple[Bulk, ...], str] = {}
        self._made_on: sqlite3.Connection | None = None

    def execute(
        self, connection: sqlite3.Connection, owned: Sequence[Row], rows: Mapping[Bulk, Sequence[Row]]
    ) -> None:
        """Run the first statement over `owned`, then those of `rows` over theirs, and commit.

        Raises:
            sqlite3.Error: one of them could not be done, or `first` has not found all of its rows; nothing
                was done.
        """
        if connection is not self._made_on:  # triggers are the connection's
            self._made, self._made_on = {}, connection
        chosen = tuple([statement for statement in self._all if statement in rows])
        insertion = self._made.get(chosen)
        if insertion is None:
            if len(self._made) >= _MOST:
                chosen = self._all
            insertion = self._made.get(chosen) or self._make(connection, chosen)
        others = [as_parameter(rows[statement]) if statement in rows else "[]" for statement in chosen]
        connection.execute(insertion, [as_parameter(owned), *others])

    def _make(self, connection: sqlite3.Connection, chosen: tuple[Bulk, ...]) -> str:
        """Make what runs the chosen statements; return the insertion that sets it off."""
        name = f"commit_{sum(1 << place for place, each in enumerate(self._all) if each in chosen)}"
        columns = [f"p{place}" for place in range(len(chosen) + 1)]
        first, *others = (f"NEW.{column}" for column in columns)
        body = [
            self._first.in_sqlite(first),
            f"SELECT RAISE(ABORT, 'not all are there') WHERE changes() <> json_array_length({first})",
            *(statement.in_sqlite(rows) for statement, rows in zip(chosen, others, strict=True)),
        ]
        view = ", ".join(f"NULL AS {column}" for column in columns)
        connection.execute(f"CREATE TEMP VIEW IF NOT EXISTS {name} AS SELECT {view}")
        trigger = f"CREATE TEMP TRIGGER IF NOT EXISTS run_{name} INSTEAD OF INSERT ON {name}"
        connection.execute(f"{trigger} BEGIN {'; '.join(body)}; END")
        insertion = f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})"  # noqa: S608
        self._made[chosen] = insertion
        return insertion

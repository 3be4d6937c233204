"""Read the server's export of a whole run: load its views into a temporary SQLite database.

The same code then reads this database and the server's.
"""

import sqlite3
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import sqlalchemy as sa
from pydantic_core import from_json

from candor.common.spreadsheet import restored
from qc.errors import DataError, Problem
from qc.formats.archive import DAMAGED, require_bounded_parquet
from qc.formats.published import FORMAT, HEADER, VERSION, ExportedView, Kind, ViewsHeader
from qc.loading.database.views import Views
from qc.loading.validation import parsed_header, repeated_keys, require_readable, validated
from qc.table import counted

AT_ONCE = 1_000  # rows per insert
_AGAIN = "Export the run again."
_BLOCK = 8 * 1024**2  # bytes of CSV read at once; must be longer than any row
_TYPES: dict[Kind, pa.DataType] = {
    "text": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "flag": pa.bool_(),
    "time": pa.string(),
}
_Rows = Iterable[Sequence[Any]]


@contextmanager
def opened_lines(name: str, file: BinaryIO) -> Iterator[Views]:
    """Open an export as JSON Lines.

    Raises:
        SourceError: its version is newer than this program reads.
        DataError: a line is not one of an export, or rows are missing.
    """
    header = _header(name, "line 1", file.readline())
    with _views(name) as connection:
        _fill_from_lines(name, header, file, _Tables(name, header, connection))
        yield _of(name, connection)


@contextmanager
def opened_archive(name: str, archive: zipfile.ZipFile) -> Iterator[Views]:
    """Open an export as an archive of Parquet or CSV. Raises as `opened_lines`."""
    header = _header(name, HEADER, _content(name, archive, HEADER))
    members = set(archive.namelist())
    with _views(name) as connection:
        tables = _Tables(name, header, connection)
        for view, given in header.views.items():
            for suffix, read in (("parquet", _from_parquet), ("csv", _from_csv)):
                if f"{view}.{suffix}" in members:
                    tables.add(view, _read(name, archive, f"{view}.{suffix}", read, given))
        tables.require_all()
        yield _of(name, connection)


def _header(source: str, where: str, content: bytes) -> ViewsHeader:
    given = parsed_header(source, where, content, _AGAIN)
    require_readable(source, given, VERSION)
    problems: list[Problem] = []
    header = validated(ViewsHeader, given, where, _AGAIN, problems)
    if header is None or header.format != FORMAT:
        raise DataError(source, problems or [Problem(where, f"is not of the format {FORMAT}.", _AGAIN)])
    return header


@contextmanager
def _views(name: str) -> Iterator[sa.Connection]:
    # SQLite keeps a database without a name in memory, spills it to a temporary file, and removes that file.
    engine = sa.create_engine("sqlite://", creator=lambda: sqlite3.connect(""), poolclass=sa.pool.StaticPool)
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def _of(name: str, connection: sa.Connection) -> Views:
    views = Views(name, connection)
    views.require_version()
    return views


class _Tables:
    """The database being filled: for each view of the export, a table and a view of it."""

    def __init__(self, source: str, header: ViewsHeader, connection: sa.Connection) -> None:
        self._source, self._header, self._connection = source, header, connection
        self._held = dict.fromkeys(header.views, 0)
        for view, given in header.views.items():
            columns = ", ".join(f'"{column}"' for column in given.columns)
            connection.exec_driver_sql(f'CREATE TABLE "rows of {view}" ({columns})')
            connection.exec_driver_sql(f'CREATE VIEW "{view}" AS SELECT * FROM "rows of {view}"')  # noqa: S608

    def add(self, view: str, rows: _Rows) -> None:
        """Insert rows, with values in the order of the view's columns."""
        columns = ", ".join("?" * len(self._header.views[view].columns))
        insert = f'INSERT INTO "rows of {view}" VALUES ({columns})'  # noqa: S608 - names of an export are words
        some: list[tuple[Any, ...]] = []
        for row in rows:
            some.append(tuple(map(_stored, row)))
            if len(some) == AT_ONCE:
                self._put(view, insert, some)
                some = []
        self._put(view, insert, some)

    def _put(self, view: str, insert: str, rows: list[tuple[Any, ...]]) -> None:
        if not rows:
            return
        try:
            self._connection.exec_driver_sql(insert, rows)
        except sa.exc.SQLAlchemyError as error:
            why = f"a value is neither a text nor a number ({error.__cause__})."
            raise DataError(self._source, [Problem(f"view {view}", why, _AGAIN)]) from None
        self._held[view] += len(rows)

    def require_all(self) -> None:
        """Raise DataError unless there are as many rows as the header announces."""
        problems = [
            Problem(
                f"view {view}",
                f"announces {counted(given.rows, 'row')}, but the file holds {self._held[view]}.",
                f"It was cut short or added to. {_AGAIN}",
            )
            for view, given in self._header.views.items()
            if given.rows != self._held[view]
        ]
        if problems:
            raise DataError(self._source, problems)


def _stored(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _fill_from_lines(source: str, header: ViewsHeader, lines: Iterable[bytes], tables: _Tables) -> None:
    problems: list[Problem] = []
    held: dict[str, list[Sequence[Any]]] = {view: [] for view in header.views}
    for number, line in enumerate(lines, start=2):
        try:
            row = from_json(line, allow_inf_nan=False)
            problems += repeated_keys(line, f"line {number}", len(row))
            view = row.pop("view")
            held[view].append([row.pop(column) for column in header.views[view].columns])
        except (ValueError, AttributeError, KeyError, TypeError):
            problems.append(Problem(f"line {number}", "is no row of a view that line 1 names.", _AGAIN))
            continue
        if len(held[view]) == AT_ONCE:
            tables.add(view, held[view])
            held[view] = []
    for view, rows in held.items():
        tables.add(view, rows)
    if problems:
        raise DataError(source, problems)
    tables.require_all()


def _content(source: str, archive: zipfile.ZipFile, member: str) -> bytes:
    try:
        return archive.read(member)
    except DAMAGED as error:
        raise DataError(source, [Problem(member, f"cannot be read ({error}).", _AGAIN)]) from None


def _read(
    source: str,
    archive: zipfile.ZipFile,
    member: str,
    read: Callable[[IO[bytes], ExportedView], _Rows],
    given: ExportedView,
) -> _Rows:
    try:
        with archive.open(member) as file:
            yield from read(file, given)
    except (pa.ArrowException, KeyError, *DAMAGED) as error:
        why = f"cannot be read ({error})."
        raise DataError(source, [Problem(member, why, _AGAIN)]) from None


def _from_parquet(file: IO[bytes], given: ExportedView) -> _Rows:
    with TemporaryFile() as table:  # Parquet is read from its end, so it needs a seekable file
        copyfileobj(file, table)
        size = table.tell()
        require_bounded_parquet(file.name, size, table)
        with pq.ParquetFile(table, page_checksum_verification=True) as found:
            for batch in found.iter_batches(AT_ONCE, columns=list(given.columns)):
                yield from _rows(batch)


def _from_csv(file: IO[bytes], given: ExportedView) -> _Rows:
    options = pa.csv.ConvertOptions(
        column_types={name: _TYPES[kind] for name, kind in given.columns.items()},
        include_columns=list(given.columns),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    reading, parsing = pa.csv.ReadOptions(block_size=_BLOCK), pa.csv.ParseOptions(newlines_in_values=True)
    for batch in pa.csv.open_csv(file, reading, parsing, options):
        for row in _rows(batch):
            yield [restored(value) if isinstance(value, str) else value for value in row]


def _rows(batch: pa.RecordBatch) -> _Rows:
    return zip(*(column.to_pylist() for column in batch.columns), strict=True)

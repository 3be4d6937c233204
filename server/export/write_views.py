"""Write the views of a run to a file: JSON Lines, or an archive of Parquet or CSV with a file per view.

All formats begin with the same header, a JSON object with the format and its version, the run, and each
view's columns and number of rows. It is the first line of JSON Lines, and `header.json` in an archive. Files
contain no time of writing: the same run gives the same bytes.
"""

import json
import zipfile
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import Connection

from server.db.runs.runs import RunEntry
from server.export.spreadsheet import harmless
from server.export.views import FORMAT, VERSION, Kind, Row, ViewToExport, rows_of, views_of
from server.study import parse_study

HEADER = "header.json"
ROW_GROUP = 10_000  # rows in a row group of Parquet, which are held in memory
_NO_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest time in ZIP, instead of the time of writing
_PIECE = 1024**2
_TYPES: dict[Kind, pa.DataType] = {
    "text": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "flag": pa.bool_(),
    "time": pa.timestamp("us", tz="UTC"),
}
OnRows = Callable[[str, int, int], None]  # the step, the number of rows written, and the total


class RunViews:
    """The views of a run in one transaction. `on_rows` is called with the progress."""

    def __init__(self, connection: Connection, run: RunEntry, on_rows: OnRows) -> None:
        """Count the rows."""
        self._connection, self._run, self._on_rows = connection, run, on_rows
        self._done = 0
        self.views = views_of(connection, run)

    def header(self) -> bytes:
        """Return the header as a line of JSON."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "run": self._run.slug,
            "study": parse_study(self._run.yaml).name,
            "views": {view.name: {"rows": view.rows, "columns": view.columns} for view in self.views},
        }
        return json.dumps(content, ensure_ascii=False).encode() + b"\n"

    def rows(self, view: ViewToExport) -> Iterator[Sequence[Row]]:
        """Yield the rows of a view in lists."""
        total = sum(each.rows for each in self.views)
        for some in rows_of(self._connection, self._run, view):
            yield some
            self._done += len(some)
            self._on_rows(f"Writing {view.name}", self._done, total)


def write_jsonl(run: RunViews, file: BinaryIO) -> None:
    """Write the header, then one line per row with the name of its view."""
    file.write(run.header())
    for view in run.views:
        for some in run.rows(view):
            for row in some:
                line = json.dumps({"view": view.name, **row}, ensure_ascii=False, default=_shown_time)
                file.write(line.encode() + b"\n")


def write_csv(run: RunViews, file: BinaryIO) -> None:
    """Write an archive with `VIEW.csv` for each view.

    Texts are quoted, even empty ones; unknown values are empty without quotes. Texts that a spreadsheet would
    compute get an apostrophe in front (`spreadsheet.harmless`).
    """
    with _archive(file, run, zipfile.ZIP_DEFLATED) as archive:
        for view in run.views:
            with _member(archive, f"{view.name}.csv") as member:
                member.write((",".join(f'"{name}"' for name in view.columns) + "\n").encode())
                for some in run.rows(view):
                    lines = (",".join(map(_cell, row.values())) for row in some)
                    member.write("".join(f"{line}\n" for line in lines).encode())


def write_parquet(run: RunViews, file: BinaryIO) -> None:
    """Write an archive with `VIEW.parquet` for each view."""
    with _archive(file, run, zipfile.ZIP_STORED) as archive:
        for view in run.views:
            with TemporaryFile() as table:  # Parquet's writer needs `tell`, which archive members lack
                _write_table(run, view, table)
                table.seek(0)
                with _member(archive, f"{view.name}.parquet") as member:
                    while piece := table.read(_PIECE):
                        member.write(piece)


def _write_table(run: RunViews, view: ViewToExport, file: IO[bytes]) -> None:
    schema = pa.schema([(name, _TYPES[kind]) for name, kind in view.columns.items()])
    with pq.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True) as writer:
        held: list[Row] = []
        for some in run.rows(view):
            held.extend(some)
            if len(held) >= ROW_GROUP:
                writer.write_table(pa.Table.from_pylist(held, schema))
                held.clear()
        writer.write_table(pa.Table.from_pylist(held, schema))


def _archive(file: BinaryIO, run: RunViews, compression: int) -> zipfile.ZipFile:
    archive = zipfile.ZipFile(file, "w", compression)
    with _member(archive, HEADER) as member:
        member.write(run.header())
    return archive


def _member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    member = zipfile.ZipInfo(name, _NO_TIME)
    member.compress_type = archive.compression
    member.create_system = 3
    member.external_attr = 0o100644 << 16
    return archive.open(member, "w", force_zip64=True)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        doubled = harmless(value).replace('"', '""')
        return f'"{doubled}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    return _shown_time(value) if isinstance(value, datetime) else repr(value)


def _shown_time(value: datetime) -> str:
    return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

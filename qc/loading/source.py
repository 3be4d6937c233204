"""Open a source once, and detect its format from its content, not from its name."""

import os
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

from qc.errors import SourceError
from qc.formats import published
from qc.formats.archive import DAMAGED, MANIFEST, PARQUET, RUN, SQLITE, ZIP, data_file, require_bounded_zip
from qc.loading.tables import GZIP, STANDARD_INPUT, unpacked

if TYPE_CHECKING:  # importing SQLAlchemy takes longer than reading most files
    from qc.loading.database.views import Views


@dataclass(frozen=True)
class RunFile:
    """An open file that holds one run and has not been read yet.

    Attributes:
        path: its path.
        file: its content, a text; it may be a pipe.
    """

    path: Path
    file: BufferedReader


Source: TypeAlias = "RunFile | Views"
_DROPPED = published.beginning("candor-run")
# The column of the first system of a vote (`qc.loading.votes`).
FIRST_SYSTEM = ("model_a", "model_a_name")


@contextmanager
def open_source(name: str) -> Iterator[Source]:
    """Open the file at a path or the database at a URL; it is closed at the end of the `with` block.

    Everything read from a database is one snapshot, of the moment it was opened.

    Args:
        name: path of a hits_data.json, an MTurk batch CSV, the server's export (JSON Lines, or an archive of
            Parquet or CSV), a bundle or an SQLite database, or a database URL. An export is read like
            a database. A text may be packed by gzip, or come from standard input (`-`).

    Raises:
        SourceError: the file or database does not exist or cannot be opened, or the database lacks the views
            of the supported version.
    """
    if name == STANDARD_INPUT:
        with _standard_input() as file, _opened_file(Path("standard input"), file) as source:
            yield source
        return
    database: str | Path = name
    if "://" not in name:
        database = Path(name)
        with _open_file(database) as file:
            first = file.peek(len(SQLITE))
            if not first.startswith(SQLITE):
                with _opened_file(database, file) as source:
                    yield source
                return
    from qc.loading.database.engine import opened  # noqa: PLC0415  # as above

    with opened(database) as views:
        yield views


@contextmanager
def _opened_file(path: Path, file: BufferedReader) -> Iterator[Source]:
    """Yield a file as the format detected from its beginning; the file stays open."""
    first = file.peek(published.PEEKED)
    if published.BEGINNING.match(first):
        from qc.loading.database.exported import opened_lines  # noqa: PLC0415  # as in `open_source`

        with opened_lines(str(path), file) as found:
            yield found
    elif first.startswith(ZIP):
        with _opened_archive(path, file) as source:
            yield source
    elif first.startswith(GZIP):
        inner = unpacked(str(path), file)
        if inner.peek(len(SQLITE)).startswith((GZIP, ZIP, SQLITE)):
            raise SourceError(f"{path}: gzip packed a database or an archive here. Unpack it first.")
        with _opened_file(path, inner) as source:
            yield source
    elif first.startswith(PARQUET) and _holds_votes(file):
        yield RunFile(path, file)
    elif first.startswith(PARQUET) or _DROPPED.match(first):
        raise SourceError(
            f"{path}: the format candor-run (one .jsonl or .parquet file) was dropped. Export the run again, "
            "with `candor data export --format jsonl`, or give what it was converted from."
        )
    else:
        yield RunFile(path, file)


def _holds_votes(file: BufferedReader) -> bool:
    """Return whether a Parquet file holds votes of an arena, by its columns."""
    import pyarrow as pa  # noqa: PLC0415  # importing it takes longer than reading most files
    import pyarrow.parquet as pq  # noqa: PLC0415

    if not file.seekable():
        return False
    try:
        return not set(FIRST_SYSTEM).isdisjoint(pq.read_schema(file).names)
    except (pa.ArrowException, OSError):
        return False
    finally:
        file.seek(0)


@contextmanager
def _opened_archive(path: Path, file: BufferedReader) -> Iterator[Source]:
    """Yield the content of an archive: the server's export, or the run of a bundle."""
    try:
        members = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise SourceError(f"{path}: this archive is damaged ({error}). Get it again.") from None
    require_bounded_zip(str(path), path.stat().st_size, members.infolist())
    names = set(members.namelist())
    if published.HEADER in names:
        from qc.loading.database.exported import opened_archive  # noqa: PLC0415  # as in `open_source`

        with opened_archive(str(path), members) as found:
            yield found
    elif MANIFEST in names and (packed := data_file(RUN, names)):
        with TemporaryDirectory() as folder:
            inner = Path(folder) / Path(packed).name
            _extract(path, members, packed, inner)
            with inner.open("rb") as run, _opened_file(inner, run) as source:
                yield source
    else:
        raise SourceError(
            f"{path}: this archive is neither an export nor a bundle of Candor. Name the file in it that "
            "holds the run."
        )


def _extract(path: Path, archive: zipfile.ZipFile, name: str, inner: Path) -> None:
    try:
        with archive.open(name) as packed, inner.open("wb") as unpacked:
            copyfileobj(packed, unpacked)
    except DAMAGED as error:
        raise SourceError(f"{path}: {name} is damaged ({error}). Get it again.") from None


def _standard_input() -> BufferedReader:
    """Return standard input as bytes.

    Raises:
        SourceError: it is a database or an archive, which cannot be read from its beginning to its end.
    """
    file = os.fdopen(sys.stdin.fileno(), "rb", closefd=False)
    if file.peek(len(SQLITE)).startswith((ZIP, SQLITE)):
        raise SourceError("standard input: this is a database or an archive. Give its path instead.")
    return file


def _open_file(path: Path) -> BufferedReader:
    if path.is_dir():
        raise SourceError(
            f"{path}: this is a directory. Name the file in it, for example {path / 'hits_data.json'}."
        )
    try:
        return path.open("rb")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceError(f"{path}: the file cannot be read ({reason}). Check the path.") from None

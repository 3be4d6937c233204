"""Open a source, once, and tell by its content what it is, whatever it is called."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from qc.errors import SourceError
from qc.loading import magic

if TYPE_CHECKING:  # SQLAlchemy takes longer to start than most files to read
    from qc.loading.database.views import Views


@dataclass(frozen=True)
class RunFile:
    """An open file that holds one run, of which nothing has been read yet.

    Attributes:
        path: where it is.
        file: its content; a text may come through a pipe.
        parquet: whether it is Parquet; everything else is a text.
    """

    path: Path
    file: BufferedReader
    parquet: bool


Source: TypeAlias = "RunFile | Views"


@contextmanager
def open_source(name: str) -> Iterator[Source]:
    """Open the file at a path or the database at a URL; it is closed when the `with` ends.

    All that is read of a database is of the moment at which it was opened.

    Args:
        name: path of a hits_data.json, of an MTurk batch CSV, of our own export (JSON Lines or Parquet)
            or of an SQLite database, or a database URL.

    Raises:
        SourceError: there is no such file or database, it cannot be opened, or the database has no views of
            the version that we read.
    """
    database: str | Path = name
    if "://" not in name:
        database = Path(name)
        with _open_file(database) as file:
            first = file.peek(len(magic.SQLITE))
            if not first.startswith(magic.SQLITE):
                yield RunFile(database, file, parquet=first.startswith(magic.PARQUET))
                return
    from qc.loading.database.engine import opened  # noqa: PLC0415  # as above

    with opened(database) as views:
        yield views


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

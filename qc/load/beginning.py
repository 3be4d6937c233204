"""The first bytes of a file, which tell what it is, whatever it is called."""

from pathlib import Path

from qc.errors import SourceError

SQLITE_MAGIC = b"SQLite format 3\x00"
PARQUET_MAGIC = b"PAR1"


def beginning(path: Path) -> bytes:
    """Return the first bytes of the file at `path`, enough to compare with those above.

    Raises:
        SourceError: there is no such file, or it cannot be read.
    """
    if path.is_dir():
        raise SourceError(
            f"{path}: this is a directory. Name the file in it, for example {path / 'hits_data.json'}."
        )
    try:
        with path.open("rb") as file:
            return file.read(len(SQLITE_MAGIC))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceError(f"{path}: the file cannot be read ({reason}). Check the path.") from None

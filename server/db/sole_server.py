"""One server to an SQLite file: a second one is refused for as long as the first one lives."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from server.db.damage import sqlite_file
from server.errors import DatabaseInUse

if sys.platform != "win32":
    import fcntl


@contextmanager
def sole_server(url: str) -> Iterator[None]:
    """Hold the right to serve the database at `url`; commands beside it need none, nor has PostgreSQL one.

    The kernel keeps the lock, on a file beside the database's, and lets go of it when the process ends,
    however it ends.

    Raises:
        DatabaseInUse: another process serves it.
        OSError: the file of the lock cannot be written.
    """
    database = _file_of(url)
    if database is None or sys.platform == "win32":
        yield
        return
    path = Path(f"{database}.serving")
    path.parent.mkdir(parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _lock(file, database)
        yield
    finally:
        os.close(file)


def _file_of(url: str) -> Path | None:
    """Return the file of an SQLite database, there or not; None for whatever else `url` is of."""
    path = sqlite_file(url)
    return path if path is None or path.is_file() or not path.exists() else None


def _lock(file: int, database: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(file, 20, 0).decode("ascii", "replace").strip()
        raise DatabaseInUse(f"another server (process {holder or '?'}) serves {database}") from None
    os.ftruncate(file, 0)
    os.pwrite(file, str(os.getpid()).encode(), 0)

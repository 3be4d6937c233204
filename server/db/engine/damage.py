"""Find damage in an SQLite database, and keep a second server from opening it."""

import os
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

import structlog
from sqlalchemy import make_url
from sqlalchemy.exc import DBAPIError

from server.errors import DatabaseDamaged, DatabaseInUse, StorageDamaged, StorageFailed

_SECONDS: Final = 2.0  # for the check at a start: enough for 1 to 2 GB if the file is in memory
_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_SHOWN: Final = 5
_NO_DATABASE: Final = "file is not a database"  # SQLite's message
log = structlog.get_logger()


def sqlite_file(url: str) -> Path | None:
    """Return the file of the SQLite database at `url`, existing or not; None for any other database."""
    parsed = make_url(url)
    is_file = parsed.get_backend_name() == "sqlite" and parsed.database not in {None, "", ":memory:"}
    return Path(str(parsed.database)) if is_file else None


def require_sound(database: Path, *, whole: bool) -> None:
    """Check the file of an SQLite database. Raises DatabaseDamaged, and sqlite3.Error as `damage_in`."""
    if (found := damage_in(database, whole=whole)) is not None:
        raise damaged(database, found)


def damage_in(database: Path, *, whole: bool) -> str | None:
    """Return what is wrong with an SQLite database's pages, and if `whole` its indexes; None if sound.

    A check that is not whole is `PRAGMA quick_check`, stopped after two seconds, so that a start stays short.

    Raises:
        sqlite3.Error: The database cannot be opened, or is busy.
    """
    pragma = f"integrity_check({_SHOWN})" if whole else "quick_check(1)"
    with closing(sqlite3.connect(database, check_same_thread=False)) as connection:
        connection.execute("PRAGMA busy_timeout=10000")
        end = threading.Timer(_SECONDS, connection.interrupt)
        if not whole:
            end.start()
        try:
            found = [str(row[0]) for row in connection.execute(f"PRAGMA {pragma}")]
        except sqlite3.Error as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                return None
            if not is_damage(error):
                raise
            found = [str(error)]
        finally:
            end.cancel()
    lines = [line.strip() for text in found for line in text.splitlines() if not line.startswith("***")]
    return None if lines == ["ok"] else "; ".join(lines)


def damaged(database: Path, found: str) -> DatabaseDamaged:
    """Return the error for a damaged database: the problem, and the backup to restore."""
    backup = last_backup(database)
    which = "your newest backup" if backup is None else f"a backup (the last one that was made is {backup})"
    repair = (
        f"Stop the server and keep a copy of the folder. Then restore {which} into another folder: `candor "
        "data restore BACKUP --data FOLDER`. Without a backup, save what can be read: "
        f"`sqlite3 {database} .dump | sed 's/^ROLLBACK;.*/COMMIT;/' | sqlite3 saved.db`; see docs/deploy.md."
    )
    if found == _NO_DATABASE:  # the path may be wrong instead
        return DatabaseDamaged(
            f"The database {database} cannot be opened: the file is no SQLite database, or its beginning is "
            "damaged",
            f"Check CANDOR_DATABASE_URL or --data. If this is the right file: {repair}",
        )
    return DatabaseDamaged(f"The database {database} is damaged: {found}", f"Nothing was changed. {repair}")


def is_damage(error: BaseException) -> bool:
    """Return whether SQLite has found its file damaged, also for errors wrapped by SQLAlchemy."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    return isinstance(cause, sqlite3.Error) and getattr(cause, "sqlite_errorcode", 0) & 0xFF in _DAMAGE


def storage_error(error: BaseException, message: str) -> StorageFailed:
    """Return the error for the caller, with `message`; if the database is damaged, log that and say so."""
    if not is_damage(error):
        return StorageFailed(message)
    damage = StorageDamaged()
    log.error(damage.message, error=str(error), remedy=damage.hint)
    return damage


def remember_backup(database: Path, backup: Path) -> None:
    """Note the path of a database's last backup; if it cannot be written, nothing happens."""
    with suppress(OSError):
        note = _note(database)
        note.touch(mode=0o600)
        note.write_text(f"{backup.absolute()}\n", encoding="utf-8")


def last_backup(database: Path) -> Path | None:
    """Return a database's last backup, if it is known and still exists."""
    with suppress(OSError, UnicodeDecodeError):
        backup = Path(_note(database).read_text(encoding="utf-8").strip())
        return backup if backup.is_file() else None
    return None


def _note(database: Path) -> Path:
    return database.with_name(f"{database.name}.last-backup")


if sys.platform != "win32":
    import fcntl


@contextmanager
def sole_server(url: str) -> Iterator[None]:
    """Hold the exclusive right to serve the database at `url`. Commands and PostgreSQL need none.

    The kernel holds the lock, on a file beside the database's, and releases it when the process ends, however
    it ends.

    Raises:
        DatabaseInUse: Another process serves it.
        OSError: The lock's file cannot be written.
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
    """Return the file of an SQLite database, existing or not; None for any other `url`."""
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

"""Open the database: engines, settings, migrations, checks for damage, and the lock of the only server."""

import os
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import structlog
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, ExceptionContext, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import DBAPIError
from sqlmodel import SQLModel
from tenacity import retry, retry_if_exception_message, stop_after_delay, wait_random

from server.clock import utc_now
from server.db import tables as models  # noqa: F401  (importing it registers the tables)
from server.errors import DatabaseDamaged, DatabaseInUse, DatabaseUnfit, StorageDamaged, StorageFailed
from server.recruiters.arrival import IdCipher

if sys.platform != "win32":
    import fcntl

_SECONDS_TO_CONNECT = 10
# SQLite connections kept open: as many as threads that may ask at once (`asyncio.to_thread`). A further
# connection would be opened for one query, and read the whole schema first.
_MOST_READERS = 32
# Tables that every version has.
_EVER = {"alembic_version", "study", "run", "worker", "assignment", "conversation", "turn"}
_BUSY_MS = 10_000
_PRAGMAS = (
    "synchronous=FULL",
    "foreign_keys=ON",
    "secure_delete=ON",  # removed and replaced data are overwritten, also in pages that become free
    f"busy_timeout={_BUSY_MS}",
)
# A connection whose other end has vanished is given up after about half a minute.
_KEEPALIVE = {
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}


@dataclass(frozen=True, slots=True)
class DatabaseLimits:
    """Limits of one process on PostgreSQL; SQLite needs none.

    `connections`: open at the same time, for each engine. `statement_seconds`: the time limit of a statement.
    """

    connections: int = 5
    statement_seconds: float = 30.0


def open_engine(url: str, *, begin: str = "BEGIN", limits: DatabaseLimits | None = None) -> Engine:
    """Return an engine for `url`. Committed data survive a power cut.

    SQLite runs in WAL mode with `synchronous=FULL`; `require_durable` checks PostgreSQL's settings.

    Args:
        url: SQLAlchemy's URL, with the driver.
        begin: SQLite's statement to open a transaction; the writer's is IMMEDIATE. In PostgreSQL every
            transaction except the writer's is a snapshot, as in SQLite.
        limits: The limits of a serving process; commands have none.
    """
    if make_url(url).get_backend_name() != "sqlite":
        return _postgres_engine(url, snapshot=begin != "BEGIN IMMEDIATE", limits=limits)
    engine = create_engine(
        url, connect_args={"check_same_thread": False}, hide_parameters=True, pool_size=_MOST_READERS
    )

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: object) -> None:
        # Python's own transaction handling is off, so that savepoints work; see `begin` below.
        connection.isolation_level = None
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        keep_log(connection)

    @event.listens_for(engine, "begin")
    def open_transaction(connection: Any) -> None:
        connection.exec_driver_sql(begin)

    return engine


@retry(
    retry=retry_if_exception_message(match="database is locked"),
    stop=stop_after_delay(_BUSY_MS / 1000),
    wait=wait_random(0.01, 0.1),
    reraise=True,
)
def keep_log(connection: sqlite3.Connection) -> None:
    """Set WAL mode. Unlike other statements, this can fail at once if another process does the same."""
    connection.execute("PRAGMA journal_mode=WAL")


def _postgres_engine(url: str, *, snapshot: bool, limits: DatabaseLimits | None) -> Engine:
    options = ["-c timezone=UTC"]
    pool: dict[str, Any] = {}
    if limits is not None:
        milliseconds = round(limits.statement_seconds * 1000)
        options += [f"-c {name}={milliseconds}" for name in ("statement_timeout", "lock_timeout")]
        # So that a process that hangs within a transaction does not keep the others from writing.
        options.append(f"-c idle_in_transaction_session_timeout={2 * milliseconds}")
        pool = {"pool_size": limits.connections, "max_overflow": 0, "pool_timeout": limits.statement_seconds}
    engine = create_engine(
        url,
        pool_pre_ping=True,  # replaces connections that PostgreSQL has closed
        hide_parameters=True,  # workers' texts must not get into a log
        isolation_level="REPEATABLE READ" if snapshot else "READ COMMITTED",
        connect_args={"connect_timeout": _SECONDS_TO_CONNECT, "options": " ".join(options), **_KEEPALIVE},
        **pool,
    )
    event.listen(engine, "handle_error", _leave_rows_out)
    return engine


def _leave_rows_out(context: ExceptionContext) -> None:
    """Remove the row from an error: PostgreSQL adds the row that breaks a rule, with workers' texts."""
    for error in (context.sqlalchemy_exception, context.original_exception):
        if error is not None and error.args:
            error.args = (str(error.args[0]).partition("\nDETAIL:")[0], *error.args[1:])


def empty_log(engine: Engine, wait_ms: int) -> bool:
    """Write SQLite's write-ahead log into the database and truncate it; return whether that was done.

    It is not done while somebody reads an earlier state. PostgreSQL manages its log itself.

    Args:
        engine: The database's engine; this thread must not be in a transaction.
        wait_ms: How long to wait for readers, in milliseconds. Nobody writes meanwhile.
    """
    if engine.dialect.name != "sqlite":
        return True
    with closing(engine.raw_connection()) as connection:
        cursor = connection.cursor()
        try:
            cursor.execute(f"PRAGMA busy_timeout={wait_ms}")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            (is_busy, *_) = cursor.fetchone() or (1,)
        finally:
            cursor.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
            cursor.close()
    return not is_busy


def alone(connection: Connection, what: str) -> None:
    """Keep all other processes from doing `what` until the transaction ends; wait for one that is doing it.

    In SQLite a writer is alone anyway once its transaction is open.
    """
    if connection.dialect.name == "postgresql":
        lock = text("SELECT pg_advisory_xact_lock(hashtextextended(:what, 0))")
        connection.execute(lock, {"what": f"candor {what}"})


def require_durable(connection: Connection) -> None:
    """Check that commits reach the disk. Raises DatabaseUnfit."""
    if connection.dialect.name != "postgresql":
        return
    for name, remedy in (
        ("fsync", "Set `fsync = on` in postgresql.conf and restart PostgreSQL."),
        ("synchronous_commit", "As the database's owner: ALTER DATABASE … SET synchronous_commit = on;"),
    ):
        if connection.exec_driver_sql(f"SHOW {name}").scalar_one() == "off":
            lost = "what workers were told is stored would be lost in a power cut"
            raise DatabaseUnfit(f"PostgreSQL runs with {name} = off: {lost}", remedy)


def seconds_ahead(connection: Connection) -> float:
    """Return how many seconds the clock of PostgreSQL's machine is ahead of ours; 0 for SQLite."""
    if connection.dialect.name != "postgresql":
        return 0.0
    before = utc_now()
    theirs = connection.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
    half_way = before + (utc_now() - before) / 2
    return float((theirs - half_way).total_seconds())


def _no_key() -> IdCipher:
    raise DatabaseUnfit(
        "The database contains workers' ids, and the key for them is missing",
        "Use a command that knows the data folder, with its worker-ids.key.",
    )


def migrate(url: str, ids: Callable[[], IdCipher] = _no_key) -> None:
    """Bring the database at `url` to the newest schema, creating it if there is none.

    If several processes do so at once, one does it and the others wait.

    Args:
        url: SQLAlchemy's URL, with the driver.
        ids: Returns the cipher for workers' ids; called if a database has unencrypted ids.

    Raises:
        DatabaseUnfit: A later version of Candor made the database, or it has unencrypted ids and there is no
            key.
    """
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite" and parsed.database:
        path = Path(parsed.database)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.touch(mode=0o600)  # SQLite gives its other files the mode of this one
    config = alembic_config(url, ids)
    made_by, _ = _schema_of(url)
    _require_known(made_by, ScriptDirectory.from_config(config))
    command.upgrade(config, "head")


def require_installation(url: str) -> None:
    """Check that Candor made the database at `url`, in this version or an earlier one. Changes nothing.

    Raises:
        DatabaseUnfit: Candor did not make it, or a later version did.
    """
    steps = ScriptDirectory.from_config(alembic_config(url))
    made_by, tables = _schema_of(url)
    _require_known(made_by, steps)
    needed = set(SQLModel.metadata.tables) if made_by == {steps.get_current_head()} else _EVER
    if missing := sorted(needed - tables):
        raise DatabaseUnfit(
            f"This is no database of Candor: it has no table {', '.join(missing)}", "Check the file."
        )


def _schema_of(url: str) -> tuple[set[str], set[str]]:
    """Return a database's last migrations, and its tables."""
    engine = open_engine(url)
    try:
        with engine.connect() as connection:
            made_by = MigrationContext.configure(connection).get_current_heads()
            return set(made_by), set(inspect(connection).get_table_names())
    finally:
        engine.dispose()


def _require_known(made_by: set[str], steps: ScriptDirectory) -> None:
    unknown = made_by - {step.revision for step in steps.walk_revisions()}
    if unknown:
        newest = steps.get_current_head()
        raise DatabaseUnfit(
            f"A later version of Candor has made this database: its schema is {', '.join(sorted(unknown))}, "
            f"and this version knows those up to {newest}",
            "Nothing was changed. Install the later version again, or use a backup from before it.",
        )


def alembic_config(url: str, ids: Callable[[], IdCipher] = _no_key) -> Config:
    """Return the migrations' configuration for `url`; `ids` as in `migrate`."""
    config = Config()
    config.set_main_option("script_location", "server.db:migrations")
    config.set_main_option("path_separator", "os")
    config.set_main_option("sqlalchemy.url", url.replace("%", "%%"))
    config.attributes["ids"] = ids
    return config


_SECONDS_OF_CHECK: Final = 2.0  # for the check at a start: enough for 1 to 2 GB if the file is in memory
_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_PROBLEMS_SHOWN: Final = 5
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
    pragma = f"integrity_check({_PROBLEMS_SHOWN})" if whole else "quick_check(1)"
    with closing(sqlite3.connect(database, check_same_thread=False)) as connection:
        connection.execute("PRAGMA busy_timeout=10000")
        end = threading.Timer(_SECONDS_OF_CHECK, connection.interrupt)
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
        f"`sqlite3 {database} .dump | sed 's/^ROLLBACK;.*/COMMIT;/' | sqlite3 saved.db`; see "
        "docs/how-to/server/repair-a-damaged-database.md."
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
        raise DatabaseInUse(f"Another server (process {holder or '?'}) serves {database}") from None
    os.ftruncate(file, 0)
    os.pwrite(file, str(os.getpid()).encode(), 0)

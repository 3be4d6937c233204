"""The database of an installation, as a command opens it."""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from alembic.util import CommandError
from rich.markup import escape
from sqlalchemy import Connection, Engine, inspect, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from bots import fail, stderr
from server.access.auth import Auth, load_signer, make_secrets, token_file
from server.access.id_keys import key_file, load_id_keys
from server.cli.settings import settings_from
from server.config import Settings, without_password
from server.db.engine.damage import damaged, is_damage, require_sound, sole_server, sqlite_file
from server.db.engine.engines import empty_log, migrate, open_engine, require_durable, seconds_ahead
from server.db.engine.secret_marks import leave_mark, mark_of
from server.db.worker_ids import PUT_KEY_BACK, needs_key, require_key
from server.errors import CandorError, DatabaseUnfit
from server.recruiters.id_cipher import IdCipher

_SECONDS_APART = 5
_WAIT_FOR_READERS_MS, _TRIES = 100, 20  # a server writes between two tries


@contextmanager
def transaction(settings: Settings, *, begins: bool = False) -> Iterator[Connection]:
    """Bring the database up to date and open a transaction on it.

    Args:
        settings: say where it is.
        begins: make a database where there is none, for what an installation can begin with, and say so.

    Raises:
        CandorError: it cannot be opened, or there is none.
    """
    url = _usable_url(settings)
    with _database_errors(url):
        if not begins:
            _require_database(url)
        new = _missing(url)
        migrate(url, partial(_id_cipher, settings))
        if new is not None:  # whoever mistook the folder sees it
            where = escape(str(new.absolute()))
            stderr.print(f"A new installation was begun: {where}", soft_wrap=True, highlight=False)
        with _opened(url, begin="BEGIN IMMEDIATE") as engine, engine.begin() as connection:
            yield connection


def id_cipher(settings: Settings, connection: Connection) -> IdCipher:
    """Return what encrypts workers' ids; its key is made where the database has not seen one.

    Raises:
        CandorError: the key cannot be used, or there is none and the database was encrypted under one.
    """
    require_id_key(settings, connection)
    return _id_cipher(settings)


def require_id_key(settings: Settings, connection: Connection) -> None:
    """Check that a key is at hand where the database needs one: a new one would be a wrong one.

    Raises:
        DatabaseUnfit: there is none.
    """
    path = key_file(settings.data)
    if settings.worker_id_key is None and not path.exists() and needs_key(connection):
        raise DatabaseUnfit(
            f"there is no {path}, and the database is encrypted under the key that was in it", PUT_KEY_BACK
        )


def require_secrets(settings: Settings, connection: Connection) -> None:
    """Check that the secrets are those of this database; make them for one that no server has used yet.

    Raises:
        DatabaseUnfit: they are lost, or others.
        CandorError: they cannot be read or written.
    """
    if not _needs_secrets(connection):
        make_secrets(settings.data)
    leave_mark(connection, "signing", _found_signer(settings).mark)
    _require_own_secrets(settings, connection)


def check_secrets(settings: Settings, connection: Connection) -> None:
    """Check that the secrets and the key of workers' ids are those of a database that was used.

    Raises:
        DatabaseUnfit: they are lost, or others.
        CandorError: they cannot be read.
    """
    if _needs_secrets(connection):
        _require_own_secrets(settings, connection)
    if needs_key(connection):
        require_key(connection, id_cipher(settings, connection))


def check_secrets_beside(settings: Settings) -> None:
    """Check that the secrets are those of a database, of this version or an earlier one, that is not changed.

    Raises:
        DatabaseUnfit: they are lost, or others.
        CandorError: they or the database cannot be read.
    """
    with reading(settings) as connection:
        if connection is not None and inspect(connection).has_table("secret_mark"):
            _require_own_secrets(settings, connection)


def _needs_secrets(connection: Connection) -> bool:
    return mark_of(connection, "signing") is not None or needs_key(connection)


def _require_own_secrets(settings: Settings, connection: Connection) -> None:
    if mark_of(connection, "signing") not in {None, _found_signer(settings).mark}:
        raise DatabaseUnfit(
            f"{token_file(settings.data)} holds another secret than the one that this database was used "
            f"with. {_MADE_FROM_IT}",
            _PUT_SECRETS_BACK,
        )


def _found_signer(settings: Settings) -> Auth:
    if not (path := token_file(settings.data)).exists():
        raise DatabaseUnfit(f"There is no {path}. {_MADE_FROM_IT}", _PUT_SECRETS_BACK)
    return load_signer(settings.data, settings.token_days)


def _id_cipher(settings: Settings) -> IdCipher:
    return IdCipher(load_id_keys(settings.data, settings.worker_id_key))


@contextmanager
def reading(settings: Settings) -> Iterator[Connection | None]:
    """Open the database as it is; give None where there is none, or one without registered bots.

    Raises:
        CandorError: it is there, and cannot be opened.
    """
    url = _usable_url(settings)
    with _database_errors(url):
        missing = _missing(url) is not None
    if missing:
        yield None
        return
    with _database_errors(url), _opened(url) as engine, engine.connect() as connection:
        yield connection if inspect(connection).has_table("registration") else None


@contextmanager
def snapshot_or_fail(data: Path | None) -> Iterator[Connection]:
    """Read the database of the `data` folder as it is now, while a server goes on writing to it.

    It is brought up to date before. What goes wrong ends the command.
    """
    try:
        settings = settings_from(data=data)
        url = _usable_url(settings)
        with _database_errors(url):
            _require_database(url)
            migrate(url, partial(_id_cipher, settings))
            with _opened(url) as engine, engine.connect() as connection:
                yield connection
    except CandorError as error:
        fail(error.message, error.hint)


@contextmanager
def transaction_or_fail(data: Path | None, *, begins: bool = False) -> Iterator[Connection]:
    """Open a transaction on the database of the `data` folder; end the command with what goes wrong in it.

    `begins`: as in `transaction`.
    """
    try:
        with transaction(settings_from(data=data), begins=begins) as connection:
            yield connection
    except CandorError as error:
        fail(error.message, error.hint)


def empty_log_or_warn(settings: Settings) -> None:
    """Empty SQLite's log, which still has what was removed; say so if somebody who reads prevents it."""
    with _opened(settings.resolved_database_url) as engine:
        if not any(empty_log(engine, _WAIT_FOR_READERS_MS) for _ in range(_TRIES)):
            stderr.print(
                "[yellow]Note:[/] Something reads the database, so its log still has what was removed. "
                "The next start of the server empties the log, and so does this command: "
                f"sqlite3 {escape(str(engine.url.database))} 'PRAGMA wal_checkpoint(TRUNCATE)'",
                soft_wrap=True,
            )


@contextmanager
def served(settings: Settings) -> Iterator[None]:
    """Hold the right to serve the database. Raises CandorError: it cannot be opened, or another holds it."""
    url = _usable_url(settings)
    with ExitStack() as held:
        with _database_errors(url):
            held.enter_context(sole_server(url))
        yield


def require_undamaged(settings: Settings, *, whole: bool) -> None:
    """Check the file of an SQLite database, if there is one: for seconds only, or as a whole.

    Raises:
        DatabaseDamaged: it is damaged.
        CandorError: it cannot be opened.
    """
    url = _usable_url(settings)
    path = sqlite_file(url)
    if path is None or not path.exists():
        return
    if path.stat().st_size == 0 and token_file(settings.data).exists():  # no start leaves both behind
        raise damaged(path, "the file is empty, and the folder has secrets of an earlier start")
    with _database_errors(url):
        require_sound(path, whole=whole)


def require_servable(connection: Connection) -> None:
    """Check that what is committed is durable, and warn where the database's clock is not ours.

    Raises:
        DatabaseUnfit: it is not durable.
    """
    require_durable(connection)
    apart = seconds_ahead(connection)
    if abs(apart) > _SECONDS_APART:
        stderr.print(
            f"[yellow]Two clocks differ:[/] the database's is {abs(apart):.0f} seconds "
            f"{'ahead of' if apart > 0 else 'behind'} this machine's. One of them is wrong, and so will be "
            "times that are stored. Set both by NTP.",
            soft_wrap=True,
        )


def _missing(url: str) -> Path | None:
    """Return the file of a SQLite database that is not there; None of any other database."""
    parsed = make_url(url)
    path = Path(parsed.database or "")
    return path if parsed.get_backend_name() == "sqlite" and not path.exists() else None


def _require_database(url: str) -> None:
    """Check that there is a database. Raises CandorError: in the wrong folder nothing is begun."""
    if (path := _missing(url)) is not None:
        raise CandorError(
            f"there is no {path}",
            "Give the folder of the installation with --data; `candor serve` begins a new one.",
        )


@contextmanager
def _opened(url: str, begin: str = "BEGIN") -> Iterator[Engine]:
    engine = open_engine(url, begin=begin)
    try:
        yield engine
    finally:
        engine.dispose()


def _usable_url(settings: Settings) -> str:
    """Return the URL of a database for which there is a driver here. Raises CandorError."""
    url = settings.resolved_database_url
    shown = without_password(url)
    try:
        parsed = make_url(url)
        parsed.get_dialect().import_dbapi()
        if parsed.get_backend_name() != "sqlite" and "@" in (parsed.database or ""):
            raise ValueError("a password that was not quoted has been taken for a host and a database")
    except (NoSuchModuleError, ImportError) as error:
        raise CandorError(
            f"the database {shown} cannot be opened, having no driver: {error}", _DRIVERS
        ) from error
    except (ArgumentError, ValueError) as error:
        # The reason is not shown: it could quote what follows an @ in a password that was not quoted.
        raise CandorError(f"the database {shown} cannot be opened: that is no URL", _HOW_TO_WRITE) from error
    return url


@contextmanager
def _database_errors(url: str) -> Iterator[None]:
    """Say of every error what, where and what to do. A password is in none of it."""
    shown = without_password(url)
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, CommandError, OSError) as error:
        reason = str(error.orig if isinstance(error, DBAPIError) else error).splitlines()[0]
        if is_damage(error) and (path := sqlite_file(url)) is not None:
            raise damaged(path, reason) from error
        hint = _SQLITE if url.startswith("sqlite") else _POSTGRESQL
        raise CandorError(f"the database {shown} cannot be opened: {reason}", hint) from error


_MADE_FROM_IT = "Links, completion codes and pseudonyms are made from the secret in it"
_PUT_SECRETS_BACK = (
    "Put the file back: every backup has it (`tar -xf BACKUP.tar secrets.json`), and so has every other "
    "machine that serves this database. If it is lost for good, move any other away and run "
    "`candor new-secrets`: then earlier links and codes are no longer valid, and workers who come back get "
    "other pseudonyms."
)
_HOW_TO_WRITE = (
    "Write CANDOR_DATABASE_URL as postgresql://USER:PASSWORD@HOST:PORT/NAME, signs such as @ : / in the "
    "password as %40 %3A %2F; or leave it away, and have SQLite in the data folder."
)
_DRIVERS = (
    "Candor is made for SQLite and PostgreSQL: write CANDOR_DATABASE_URL as sqlite:///… or postgresql://…; "
    "PostgreSQL's driver is installed by `pip install 'psycopg[binary]'`."
)
_SQLITE = "Check CANDOR_DATABASE_URL or --data."
_POSTGRESQL = (
    "Check that PostgreSQL runs there and that this machine may connect to it, and the user, the password "
    "and the name of the database in CANDOR_DATABASE_URL."
)

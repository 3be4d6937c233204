"""The installation that a command works on: its settings as options, its database, its secrets and keys."""

import json
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from shutil import which
from typing import Annotated, Any

import typer
from alembic.util import CommandError
from pydantic import ValidationError
from pydantic_settings import SettingsError
from rich.markup import escape
from sqlalchemy import Connection, Engine, inspect, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from bots.serving import Moderation
from candor.common.terminal import fail, stderr
from server.access.auth import Auth, key_file, load_id_keys, load_signer, make_secrets, token_file
from server.config import Settings, without_password
from server.db.engine import (
    damaged,
    empty_log,
    is_damage,
    migrate,
    open_engine,
    require_durable,
    require_sound,
    seconds_ahead,
    sole_server,
    sqlite_file,
)
from server.db.secrets import PUT_KEY_BACK, leave_mark, mark_of, needs_key, require_key
from server.errors import CandorError, DatabaseUnfit
from server.recruiters.arrival import IdCipher

_FIELDS = Settings.model_fields


def _default(name: str) -> str:
    return str(_FIELDS[name].default)


Host = Annotated[str | None, typer.Option(help="Address to listen on.", show_default=_default("host"))]
Port = Annotated[int | None, typer.Option(help="Port to listen on.", show_default=_default("port"))]
Data = Annotated[
    Path | None,
    typer.Option(help="Folder of the database and the secrets.", show_default=_default("data")),
]

Processes = Annotated[
    int | None,
    typer.Option(help="Number of web processes.", show_default=_default("processes")),
]


def settings_from(**given: Any) -> Settings:
    """Return the settings from the environment and the given options. An invalid one ends the command."""
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(str(k) for k in e['loc'])}: {e['msg']}" for e in error.errors())
        fail(f"a setting is wrong: {problems}", "Correct the option, or the CANDOR_… variable of that name.")
    except SettingsError as error:
        fail(f"a setting is wrong: {error}", "Correct the CANDOR_… variable of that name; a list is JSON.")


def moderation_from(settings: Settings) -> Moderation | None:
    """Return the service that moderates replies of bots in checks and messages of runs; None without one."""
    url = settings.moderation_url
    return None if url is None else Moderation(url, settings.moderation_key)


def variables_help() -> str:
    """Return the list of environment variables for a command's help."""
    paragraphs = ["You can also set these environment variables:"]
    for name, field in _FIELDS.items():
        variable = f"{Settings.model_config['env_prefix']}{name}".upper()
        default = _as_typed(field.default)
        shown = f" ({escape(default)})" if default else ""
        paragraphs.append(f"[b]{variable}[/b]: {escape(field.description or '')}{shown}")
    return "\n\n".join(paragraphs)


def _as_typed(default: object) -> str:
    if default is None:
        return ""
    return json.dumps(default) if isinstance(default, list | bool) else str(default)


def own_command() -> str:
    """Return how to call this `candor`: by its name if it is on the search path, else by its path."""
    beside = Path(sys.executable).with_name("candor")
    found = which("candor")
    if found is not None and Path(found).resolve() == beside.resolve():
        return "candor"
    return os.path.relpath(beside) if beside.is_relative_to(Path.cwd()) else str(beside)


_SECONDS_APART = 5
_WAIT_FOR_READERS_MS, _TRIES = 100, 20  # a server writes between two tries


@contextmanager
def transaction(settings: Settings, *, begins: bool = False) -> Iterator[Connection]:
    """Migrate the database to the newest schema and open a transaction on it.

    Args:
        settings: locate the database.
        begins: create the database if it is missing, and print a message about it.

    Raises:
        CandorError: the database cannot be opened, or is missing.
    """
    url = _usable_url(settings)
    with _database_errors(url):
        if not begins:
            _require_database(url)
        new = _missing(url)
        migrate(url, partial(_id_cipher, settings))
        if new is not None:  # so that a user who named the wrong folder notices
            where = escape(str(new.absolute()))
            stderr.print(f"A new installation was begun: {where}", soft_wrap=True, highlight=False)
        with _opened(url, begin="BEGIN IMMEDIATE") as engine, engine.begin() as connection:
            yield connection


def id_cipher(settings: Settings, connection: Connection) -> IdCipher:
    """Return the cipher of workers' ids. Its key is created for a database that never used one.

    Raises:
        CandorError: the key cannot be used, or the key of an encrypted database is missing.
    """
    require_id_key(settings, connection)
    return _id_cipher(settings)


def require_id_key(settings: Settings, connection: Connection) -> None:
    """Check that the key of workers' ids exists if the database is encrypted: a new key could not decrypt it.

    Raises:
        DatabaseUnfit: the key is missing.
    """
    path = key_file(settings.data)
    if settings.worker_id_key is None and not path.exists() and needs_key(connection):
        raise DatabaseUnfit(
            f"There is no {path}, and the database is encrypted with the key that was in it", PUT_KEY_BACK
        )


def require_secrets(settings: Settings, connection: Connection) -> None:
    """Check that the secrets belong to this database; create them if no server has used the database yet.

    Raises:
        DatabaseUnfit: the secrets are lost, or belong to another database.
        CandorError: the secrets cannot be read or written.
    """
    if not _needs_secrets(connection):
        make_secrets(settings.data)
    leave_mark(connection, "signing", _found_signer(settings).mark)
    _require_own_secrets(settings, connection)


def check_secrets(settings: Settings, connection: Connection) -> None:
    """Check that the secrets and the key of workers' ids belong to this database, if it was used before.

    Raises:
        DatabaseUnfit: they are lost, or belong to another database.
        CandorError: they cannot be read.
    """
    if _needs_secrets(connection):
        _require_own_secrets(settings, connection)
    if needs_key(connection):
        require_key(connection, id_cipher(settings, connection))


def check_secrets_beside(settings: Settings) -> None:
    """Check that the secrets belong to a database of this version or an earlier one, without changing it.

    Raises:
        DatabaseUnfit: the secrets are lost, or belong to another database.
        CandorError: the secrets or the database cannot be read.
    """
    with reading(settings) as connection:
        if connection is not None and inspect(connection).has_table("secret_mark"):
            _require_own_secrets(settings, connection)


def _needs_secrets(connection: Connection) -> bool:
    return mark_of(connection, "signing") is not None or needs_key(connection)


def _require_own_secrets(settings: Settings, connection: Connection) -> None:
    if mark_of(connection, "signing") not in {None, _found_signer(settings).mark}:
        raise DatabaseUnfit(
            f"{token_file(settings.data)} contains another secret than the one that this database was used "
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
    """Open the database without migrating it; yield None if it is missing or older than registered bots.

    Raises:
        CandorError: the database exists and cannot be opened.
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
    """Migrate the database of the `data` folder and read one snapshot of it, while a server may write to it.

    An error ends the command.
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
    """Open a transaction on the database of the `data` folder. An error in it ends the command.

    `begins`: as in `transaction`.
    """
    try:
        with transaction(settings_from(data=data), begins=begins) as connection:
            yield connection
    except CandorError as error:
        fail(error.message, error.hint)


def empty_log_or_warn(settings: Settings) -> None:
    """Empty SQLite's write-ahead log, which still contains removed data.

    Print a note if a reader prevents it.
    """
    with _opened(settings.resolved_database_url) as engine:
        if not any(empty_log(engine, _WAIT_FOR_READERS_MS) for _ in range(_TRIES)):
            stderr.print(
                "[yellow]Note:[/] Something reads the database, so its log still contains the removed data. "
                "The next start of the server empties the log, and so does this command: "
                f"sqlite3 {escape(str(engine.url.database))} 'PRAGMA wal_checkpoint(TRUNCATE)'",
                soft_wrap=True,
            )


@contextmanager
def served(settings: Settings) -> Iterator[None]:
    """Hold the lock for serving the database.

    Raises:
        CandorError: the database cannot be opened, or another server holds the lock.
    """
    url = _usable_url(settings)
    with ExitStack() as held:
        with _database_errors(url):
            held.enter_context(sole_server(url))
        yield


def require_undamaged(settings: Settings, *, whole: bool) -> None:
    """Check the file of an SQLite database, if there is one, for damage.

    Args:
        settings: locate the database.
        whole: check the whole file; otherwise the check takes a few seconds at most.

    Raises:
        DatabaseDamaged: the file is damaged.
        CandorError: the file cannot be opened.
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
    """Check that commits are durable, and warn if the database's clock differs from this machine's.

    Raises:
        DatabaseUnfit: commits are not durable.
    """
    require_durable(connection)
    apart = seconds_ahead(connection)
    if abs(apart) > _SECONDS_APART:
        stderr.print(
            f"[yellow]Two clocks differ:[/] the database's clock is {abs(apart):.0f} seconds "
            f"{'ahead of' if apart > 0 else 'behind'} this machine's. One of them is wrong, so stored times "
            "will be wrong, too. Set both by NTP.",
            soft_wrap=True,
        )


def _missing(url: str) -> Path | None:
    """Return the path of a missing SQLite database; None if it exists or is another kind of database."""
    parsed = make_url(url)
    path = Path(parsed.database or "")
    return path if parsed.get_backend_name() == "sqlite" and not path.exists() else None


def _require_database(url: str) -> None:
    """Check that the database exists. Raises CandorError if not, so that a wrong folder stays empty."""
    if (path := _missing(url)) is not None:
        raise CandorError(
            f"There is no {path}",
            "Name the data folder of the installation with --data, or run “candor serve” to begin a new one.",
        )


@contextmanager
def _opened(url: str, begin: str = "BEGIN") -> Iterator[Engine]:
    engine = open_engine(url, begin=begin)
    try:
        yield engine
    finally:
        engine.dispose()


def _usable_url(settings: Settings) -> str:
    """Return the URL of the database. Raises CandorError if it is malformed or its driver is missing."""
    url = settings.resolved_database_url
    shown = without_password(url)
    try:
        parsed = make_url(url)
        parsed.get_dialect().import_dbapi()
        if parsed.get_backend_name() != "sqlite" and "@" in (parsed.database or ""):
            raise ValueError("an unquoted @ in the password was parsed as the start of the host")
    except (NoSuchModuleError, ImportError) as error:
        raise CandorError(
            f"The database {shown} cannot be opened, because its driver is missing: {error}", _DRIVERS
        ) from error
    except (ArgumentError, ValueError) as error:
        # The reason is not shown: it could quote a part of a password.
        reason = f"the database {shown} cannot be opened: that is not a valid URL"
        raise CandorError(reason, _HOW_TO_WRITE) from error
    return url


@contextmanager
def _database_errors(url: str) -> Iterator[None]:
    """Turn errors of the database into a CandorError with the reason and a hint, without any password."""
    shown = without_password(url)
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, CommandError, OSError) as error:
        reason = str(error.orig if isinstance(error, DBAPIError) else error).splitlines()[0]
        if is_damage(error) and (path := sqlite_file(url)) is not None:
            raise damaged(path, reason) from error
        hint = _SQLITE if url.startswith("sqlite") else _POSTGRESQL
        raise CandorError(f"The database {shown} cannot be opened: {reason}", hint) from error


_MADE_FROM_IT = "Links, completion codes and pseudonyms are made from the secret in it"
_PUT_SECRETS_BACK = (
    "Put the file back: every backup contains it (`tar -xf BACKUP.tar secrets.json`), and so does every "
    "other machine that serves this database. If it is lost for good, move any wrong file away and run "
    "`candor data new-secrets`. Earlier links and codes are then no longer valid, and workers who come "
    "back get other pseudonyms."
)
_HOW_TO_WRITE = (
    "Write CANDOR_DATABASE_URL as postgresql://USER:PASSWORD@HOST:PORT/NAME, and characters such as @ : / in "
    "the password as %40 %3A %2F. Without CANDOR_DATABASE_URL, Candor uses SQLite in the data folder."
)
_DRIVERS = (
    "Candor supports SQLite and PostgreSQL: write CANDOR_DATABASE_URL as sqlite:///… or postgresql://…. "
    "Install PostgreSQL's driver with `pip install 'psycopg[binary]'`."
)
_SQLITE = "Check CANDOR_DATABASE_URL or --data."
_POSTGRESQL = (
    "Check that PostgreSQL runs there and that this machine may connect to it. Check the user, the password "
    "and the name of the database in CANDOR_DATABASE_URL."
)

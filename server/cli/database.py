"""The database of an installation, as a command opens it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from alembic.util import CommandError
from sqlalchemy import Connection, Engine, inspect, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from bots import fail, stderr
from server.access.id_keys import load_id_keys
from server.cli.settings import settings_from
from server.config import Settings, without_password
from server.db.engine import migrate, open_engine, require_durable, seconds_ahead
from server.db.sole_server import sole_server
from server.errors import CandorError
from server.recruiters.id_cipher import IdCipher

_SECONDS_APART = 5


@contextmanager
def transaction(settings: Settings) -> Iterator[Connection]:
    """Bring the database up to date and open a transaction on it.

    Raises:
        CandorError: it cannot be opened.
    """
    url = _usable_url(settings)
    with _database_errors(url):
        migrate(url, partial(id_cipher, settings))
        with _opened(url, begin="BEGIN IMMEDIATE") as engine, engine.begin() as connection:
            yield connection


def id_cipher(settings: Settings) -> IdCipher:
    """Return what encrypts workers' ids. Raises CandorError: its key cannot be used."""
    return IdCipher(load_id_keys(settings.data, settings.worker_id_key))


@contextmanager
def reading(settings: Settings) -> Iterator[Connection | None]:
    """Open the database as it is; give None where there is none, or one without registered bots.

    Raises:
        CandorError: it is there, and cannot be opened.
    """
    url = _usable_url(settings)
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite" and not Path(parsed.database or "").exists():
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
            migrate(url, partial(id_cipher, settings))
            with _opened(url) as engine, engine.connect() as connection:
                yield connection
    except CandorError as error:
        fail(error.message, error.hint)


@contextmanager
def transaction_or_fail(data: Path | None) -> Iterator[Connection]:
    """Open a transaction on the database of the `data` folder; end the command with what goes wrong in it."""
    try:
        with transaction(settings_from(data=data)) as connection:
            yield connection
    except CandorError as error:
        fail(error.message, error.hint)


def id_cipher_or_fail(data: Path | None) -> IdCipher:
    """Return what encrypts workers' ids; end the command where its key cannot be used."""
    try:
        return id_cipher(settings_from(data=data))
    except CandorError as error:
        fail(error.message, error.hint)


@contextmanager
def served(settings: Settings) -> Iterator[None]:
    """Hold the right to serve the database. Raises CandorError: it cannot be opened, or another holds it."""
    url = _usable_url(settings)
    with ExitStack() as held:
        with _database_errors(url):
            held.enter_context(sole_server(url))
        yield


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
    except (SQLAlchemyError, CommandError, OSError) as error:
        reason = str(error.orig if isinstance(error, DBAPIError) else error).splitlines()[0]
        hint = _SQLITE if url.startswith("sqlite") else _POSTGRESQL
        raise CandorError(f"the database {shown} cannot be opened: {reason}", hint) from error


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

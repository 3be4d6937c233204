"""The database of an installation, as a command opens it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic.util import CommandError
from sqlalchemy import Connection, Engine, inspect, make_url
from sqlalchemy.exc import SQLAlchemyError

from bots import fail
from server.cli.settings import settings_from
from server.config import Settings
from server.db.engine import migrate, open_engine
from server.errors import CandorError


@contextmanager
def transaction(settings: Settings) -> Iterator[Connection]:
    """Bring the database up to date and open a transaction on it.

    Raises:
        CandorError: it cannot be opened.
    """
    url = settings.resolved_database_url
    with _database_errors(url):
        migrate(url)
        with _opened(url, begin="BEGIN IMMEDIATE") as engine, engine.begin() as connection:
            yield connection


@contextmanager
def reading(settings: Settings) -> Iterator[Connection | None]:
    """Open the database as it is; give None where there is none, or one without registered bots.

    Raises:
        CandorError: it is there, and cannot be opened.
    """
    url = settings.resolved_database_url
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite" and not Path(parsed.database or "").exists():
        yield None
        return
    with _database_errors(url), _opened(url) as engine, engine.connect() as connection:
        yield connection if inspect(connection).has_table("registration") else None


@contextmanager
def transaction_or_fail(data: Path | None) -> Iterator[Connection]:
    """Open a transaction on the database of the `data` folder; end the command with what goes wrong in it."""
    try:
        with transaction(settings_from(data=data)) as connection:
            yield connection
    except CandorError as error:
        fail(error.message, error.hint)


@contextmanager
def _opened(url: str, **how: str) -> Iterator[Engine]:
    engine = open_engine(url, **how)
    try:
        yield engine
    finally:
        engine.dispose()


@contextmanager
def _database_errors(url: str) -> Iterator[None]:
    try:
        yield
    except (SQLAlchemyError, CommandError, ImportError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise CandorError(
            f"the database {_shown(url)} cannot be opened: {reason}", "Check CANDOR_DATABASE_URL or --data."
        ) from error


def _shown(url: str) -> str:
    """Return a database's URL without the password in it."""
    return re.sub("//([^:@/]*):[^@/]*@", r"//\1:***@", url)

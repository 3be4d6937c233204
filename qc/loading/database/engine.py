"""Open a database so that nothing in it can be changed, and see it as of one moment."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from qc.errors import SourceError
from qc.loading import magic
from qc.loading.database.views import Views, reason

CONNECT_SECONDS = 10


@contextmanager
def opened(source: str | Path) -> Iterator[Views]:
    """Open the database at a URL or in a file that is known to be SQLite; it is closed when the `with` ends.

    What is read through the views is of one moment. Messages name the database without any password.

    Raises:
        SourceError: it cannot be opened, or has no views of the version that we read.
    """
    name, engine = _of_url(source) if isinstance(source, str) else (str(source), _sqlite_engine(source))
    try:
        with _snapshot(name, engine) as connection:
            views = Views(name, connection)
            views.require_version()
            yield views
    finally:
        engine.dispose()


def _of_url(text: str) -> tuple[str, sa.Engine]:
    """Return the URL without its password, for messages, and an engine that only reads."""
    try:
        url = sa.make_url(text)
    except (SQLAlchemyError, ValueError):
        raise SourceError("What was given is no database URL. Write it like sqlite:///candor.db.") from None
    source = url.render_as_string(hide_password=True)
    backend = url.get_backend_name()
    if backend == "sqlite":
        return source, _sqlite_engine(_sqlite_file(source, url.database))
    if backend in ("postgresql", "postgres"):
        return source, _postgres_engine(source, url)
    raise SourceError(
        f"{source}: databases of the kind {backend!r} are not read. Give sqlite:/// or postgresql://."
    )


def _sqlite_file(source: str, database: str | None) -> Path:
    if not database or not Path(database).is_file():
        raise SourceError(
            f"{source}: there is no such database file. Check the path; a relative one has 3 slashes."
        )
    with Path(database).open("rb") as file:
        if file.read(len(magic.SQLITE)) != magic.SQLITE:
            raise SourceError(f"{source}: the file is not an SQLite database. Check the path.")
    return Path(database)


def _sqlite_engine(path: Path) -> sa.Engine:
    # SQLAlchemy would create a missing file and open it for writing; the mode is ours to say.
    location = f"file:{quote(str(path.resolve()))}?mode=ro"
    return sa.create_engine(
        "sqlite://", creator=lambda: sqlite3.connect(location, uri=True), poolclass=sa.pool.NullPool
    )


def _postgres_engine(source: str, url: sa.URL) -> sa.Engine:
    try:
        return sa.create_engine(
            url.set(drivername="postgresql+psycopg"),
            connect_args={"connect_timeout": CONNECT_SECONDS},
            isolation_level="REPEATABLE READ",
        )
    except ModuleNotFoundError:
        raise SourceError(
            f"{source}: the PostgreSQL driver is missing. Install it: pip install 'psycopg[binary]'"
        ) from None


@contextmanager
def _snapshot(source: str, engine: sa.Engine) -> Iterator[sa.Connection]:
    try:
        connection = engine.connect()
    except (SQLAlchemyError, OSError) as error:
        raise SourceError(
            f"{source}: no connection ({reason(error)}). Check the URL and the server."
        ) from None
    with connection:
        if engine.dialect.name == "sqlite":
            # sqlite3 opens no transaction for a SELECT; without one each view is of another moment.
            connection.exec_driver_sql("BEGIN")
        yield connection

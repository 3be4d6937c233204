"""Open a database read-only, read it as one snapshot, and choose one of its runs."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pandas as pd
import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from qc.errors import RunChoiceError, SourceError, joined
from qc.formats.archive import SQLITE
from qc.loading.database.views import RUN, Views, reason

CONNECT_SECONDS = 10


@contextmanager
def opened(source: str | Path) -> Iterator[Views]:
    """Open the database at a URL, or in an SQLite file; it is closed at the end of the `with` block.

    The views read one snapshot. Messages name the database without any password.

    Raises:
        SourceError: it cannot be opened, or lacks the views of the supported version.
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
    """Return the URL without its password, for messages, and a read-only engine."""
    try:
        url = sa.make_url(text)
    except (SQLAlchemyError, ValueError):
        raise SourceError("This is not a valid database URL. Write it like sqlite:///candor.db.") from None
    source = url.render_as_string(hide_password=True)
    backend = url.get_backend_name()
    if backend == "sqlite":
        return source, _sqlite_engine(_sqlite_file(source, url.database))
    if backend in ("postgresql", "postgres"):
        return source, _postgres_engine(source, url)
    raise SourceError(
        f"{source}: databases of the kind {backend!r} are not supported. Give sqlite:/// or postgresql://."
    )


def _sqlite_file(source: str, database: str | None) -> Path:
    if not database or not Path(database).is_file():
        raise SourceError(
            f"{source}: there is no such database file. Check the path; a relative one has 3 slashes."
        )
    with Path(database).open("rb") as file:
        if file.read(len(SQLITE)) != SQLITE:
            raise SourceError(f"{source}: the file is not an SQLite database. Check the path.")
    return Path(database)


def _sqlite_engine(path: Path) -> sa.Engine:
    # By default SQLAlchemy creates a missing file and opens it for writing, so set the mode here.
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
            # sqlite3 opens no transaction for a SELECT; without one, each view is read at another moment.
            connection.exec_driver_sql("BEGIN")
        yield connection


REHEARSAL = "rehearsal"


def is_run(views: Views, name: str) -> bool:
    """Return whether there is a run with the slug or id `name`."""
    return not _named(_runs(views), name).empty


def choose(views: Views, wanted: str | None, option: str) -> tuple[object, str]:
    """Return the id, as stored in the database, and the slug of the run `wanted`.

    Args:
        views: the views of the database.
        wanted: slug or id; None for the only run that is not a rehearsal.
        option: command-line option that chooses a run; for messages.

    Raises:
        RunChoiceError: there is no such run, or more than one.
    """
    runs = _runs(views)
    if wanted is None:
        runs = runs[runs["kind"] != REHEARSAL]
    names = joined(runs["run"].to_list())
    if runs.empty:
        raise RunChoiceError(f"{views.source}: the database holds no run yet. Start one first.")
    if wanted is None and len(runs) > 1:
        raise RunChoiceError(
            f"{views.source}: the database holds {len(runs)} runs. Choose one with {option}: {names}."
        )
    chosen = runs if wanted is None else _named(runs, wanted)
    if chosen.empty:
        raise RunChoiceError(f"{views.source}: there is no run {wanted!r}. The database holds: {names}.")
    if len(chosen) > 1:
        ids = joined(chosen["id_text"].to_list())
        raise RunChoiceError(
            f"{views.source}: several runs are called {wanted!r}. Name one by its id: {ids}."
        )
    return chosen["run_id"].iloc[0], chosen["run"].iloc[0]


def is_rehearsal(views: Views, run_id: object) -> bool:
    """Return whether a run is a rehearsal: simulated workers who tried the study out."""
    runs = _runs(views)
    return bool((runs.loc[runs["run_id"] == run_id, "kind"] == REHEARSAL).any())


def _runs(views: Views) -> pd.DataFrame:
    """Return the runs; databases of older servers do not store the kind of a run."""
    has_kinds = "kind" in views.columns("v1_run")
    rows = views.rows("v1_run", (*RUN, "kind") if has_kinds else RUN)
    if not has_kinds:
        rows = rows.assign(kind="study")
    return rows.assign(id_text=rows["run_id"].map(str)).sort_values(["run", "id_text"])


def _named(runs: pd.DataFrame, name: str) -> pd.DataFrame:
    return runs[(runs["run"] == name) | (runs["id_text"] == name)]

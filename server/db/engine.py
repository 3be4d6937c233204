"""Opening the database: engines, migrations, SQLite's settings."""

from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, create_engine, event, make_url


def open_engine(url: str, *, begin: str = "BEGIN") -> Engine:
    """Return an engine for `url`. `begin` is how SQLite opens a transaction; the writer's is IMMEDIATE.

    SQLite runs in WAL mode with `synchronous=FULL`: a commit that has returned survives a power cut.
    PostgreSQL opens every transaction but the writer's as a snapshot, as SQLite does.
    """
    if make_url(url).get_backend_name() != "sqlite":
        return create_engine(
            url,
            pool_pre_ping=True,
            hide_parameters=True,  # what workers say is for no log
            isolation_level="READ COMMITTED" if begin == "BEGIN IMMEDIATE" else "REPEATABLE READ",
            connect_args={"options": "-c timezone=UTC"},
        )
    engine = create_engine(url, connect_args={"check_same_thread": False}, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: object) -> None:
        # Python's own transaction handling is off, so that savepoints work; see `begin` below.
        connection.isolation_level = None
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=10000"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def open_transaction(connection: Any) -> None:
        connection.exec_driver_sql(begin)

    return engine


def migrate(url: str) -> None:
    """Bring the database at `url` to the newest schema, creating it where there is none."""
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite" and parsed.database:
        path = Path(parsed.database)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.touch(mode=0o600)  # SQLite gives its other files the mode of this one
    command.upgrade(alembic_config(url), "head")


def alembic_config(url: str) -> Config:
    """Return the migrations' configuration for `url`."""
    config = Config()
    config.set_main_option("script_location", "server.db:migrations")
    config.set_main_option("path_separator", "os")
    config.set_main_option("sqlalchemy.url", url.replace("%", "%%"))
    return config

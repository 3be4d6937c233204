"""Alembic's entry point: connects, and runs the steps in one transaction, beside which nobody runs them."""

from alembic import context
from sqlmodel import SQLModel

from server.db import tables as models  # noqa: F401  (importing it registers the tables)
from server.db.engine import alone, open_engine


def run() -> None:
    """Run the steps that are asked for."""
    url = context.config.get_main_option("sqlalchemy.url")
    engine = open_engine(url or "", begin="BEGIN IMMEDIATE")
    try:
        with engine.begin() as connection:
            alone(connection, "migrations")
            context.configure(connection, target_metadata=SQLModel.metadata, render_as_batch=True)
            context.run_migrations()
    finally:
        engine.dispose()


run()

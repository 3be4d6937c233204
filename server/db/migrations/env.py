"""Alembic's entry point: connects, and runs the steps in one transaction."""

from alembic import context
from sqlmodel import SQLModel

from server.db import models  # noqa: F401  (importing it registers the tables)
from server.db.engine import open_engine


def run() -> None:
    """Run the steps that are asked for."""
    url = context.config.get_main_option("sqlalchemy.url")
    engine = open_engine(url or "", begin="BEGIN IMMEDIATE")
    with engine.connect() as connection:
        context.configure(connection, target_metadata=SQLModel.metadata, render_as_batch=True)
        with context.begin_transaction():
            context.run_migrations()
    engine.dispose()


run()

"""A database with a run, and what a reader of its own finds in it."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from sqlalchemy import Connection, make_url, text

from bots import Bot
from server.bots.lineup import OpenRun, names_of, session_rules, study_card
from server.db import counts
from server.db.engine import open_engine
from server.db.runs.runs import open_run
from server.db.store import Store
from server.session.plan import QC
from server.session.records import Agreed
from server.study import parse_study
from tests.server.support.bots import Echo
from tests.server.support.study import AT, NOBODY, RUN, study_text
from tests.support.waiting import PATIENCE


def make_run(
    url: str, text: str | None = None, bots: Bot | Mapping[str, Bot] | None = None, slug: str = RUN
) -> OpenRun:
    """Open a run in the migrated database at `url`. `bots`: one for all, or some by system; Echo else."""
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        entry = open_run(connection, text if text is not None else study_text(), slug, AT)
    engine.dispose()
    study = parse_study(entry.yaml)
    names = [*(spec.name for spec in study.systems), QC]
    given: Mapping[str, Bot] = bots if isinstance(bots, Mapping) else dict.fromkeys(names, bots or Echo())
    lineup = {name: given.get(name, Echo()) for name in names}
    return OpenRun(
        id=entry.id,
        slug=entry.slug,
        seed=entry.seed,
        study=study,
        card=study_card(study),
        rules=session_rules(study, NOBODY),
        names=names_of(study),
        bots=lineup,
    )


def query(url: str, sql: str, *values: object) -> list[tuple[Any, ...]]:
    """Return what a reader of its own, outside the server, finds in the database. Values stand for `?`."""
    if not url.startswith("sqlite"):
        return _query_postgres(url, sql, values)
    connection = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
    try:
        return connection.execute(sql, values).fetchall()
    finally:
        connection.close()


def _query_postgres(url: str, sql: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
    marked = sql.replace("%", "%%").replace("?", "%s") if values else sql
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        cursor = connection.execute(marked.encode(), values or None)
        return cursor.fetchall() if cursor.description is not None else []


def execute(url: str, sql: str, *values: object) -> None:
    """Change the database from outside the server."""
    query(url, sql, *values)


def recount(url: str) -> None:
    """Count anew what arrivals go by, after conversations were put into the database by hand."""
    tables = ("plan_count", "free_place", "assignment_count", "rated_count")
    emptied = [f"DELETE FROM {table}" for table in tables]  # noqa: S608
    for statement in (*emptied, *counts.FILL_RUN_COUNTS, *counts.FILL_PLAN_COUNTS):
        execute(url, statement)


def audit(url: str) -> list[str]:
    """Return in words where the counts that arrivals go by differ from what is stored."""
    engine = open_engine(url)
    with engine.connect() as connection:
        found = counts.differences(connection)
    engine.dispose()
    return found


@asynccontextmanager
async def locked(url: str, store: Store) -> AsyncIterator[None]:
    """Keep everybody else from writing; the store's writer does not wait long for it."""
    sqlite = url.startswith("sqlite")
    if sqlite:
        impatient = "PRAGMA busy_timeout=20"
        await store.submit(lambda connection: connection.exec_driver_sql(impatient).close())
    else:  # it holds for connections that are made from now on
        name = make_url(url).database
        execute(url, f'ALTER DATABASE "{name}" SET lock_timeout = 20')
        execute(
            url,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    with engine.connect() as connection:
        lock = "SELECT 1" if sqlite else "LOCK TABLE assignment IN EXCLUSIVE MODE"  # readers may go on
        connection.exec_driver_sql(lock).close()
        yield
    engine.dispose()


@asynccontextmanager
async def held_up(store: Store) -> AsyncIterator[int]:
    """Keep everything that writes busy within a transaction, so that what is submitted meanwhile gathers.

    Yields how many transactions that takes: one for each writer.
    """
    postgresql = await store.read(lambda connection: connection.dialect.name) == "postgresql"
    begun, go_on = threading.Event(), threading.Event()

    def wait(connection: Connection) -> None:
        if postgresql:
            connection.exec_driver_sql("LOCK TABLE assignment IN EXCLUSIVE MODE")
        begun.set()
        assert go_on.wait(PATIENCE)

    waiting: list[asyncio.Task[None]] = [asyncio.create_task(store.submit(wait))]
    await asyncio.to_thread(begun.wait, PATIENCE)
    if postgresql:  # what sessions append has a connection of its own, which waits for the lock from here on
        waiting.append(asyncio.create_task(store.append("nobody", 0, [Agreed(AT, "first")], AT)))
        blocked = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
        while not await store.read(lambda connection: connection.execute(blocked).scalar_one()):  # noqa: ASYNC110 - only the database knows
            await asyncio.sleep(0.01)
    try:
        yield len(waiting)
        await asyncio.sleep(0)  # let every task that was made meanwhile put its job
    finally:
        go_on.set()
        await asyncio.gather(*waiting, return_exceptions=True)


def everything(url: str, *but: str) -> str:
    """Return all that is in the tables of the database, but for some."""
    engine = open_engine(url)
    with engine.connect() as connection:
        names = "SELECT name FROM sqlite_master WHERE type = 'table'"
        if not url.startswith("sqlite"):
            names = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        tables = set(connection.exec_driver_sql(names).scalars()) - set(but)
        found = [str(connection.exec_driver_sql(f"SELECT * FROM {table}").all()) for table in tables]  # noqa: S608
    engine.dispose()
    return "\n".join(found)

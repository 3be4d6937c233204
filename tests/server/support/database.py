"""A database with a run, and what a reader of its own finds in it."""

import sqlite3
from collections.abc import Mapping
from typing import Any

from bots import Bot
from server.bots.lineup import OpenRun, names_of, rules_of, study_card
from server.db import catalog
from server.db.engine import open_engine
from server.session.plan import QC
from server.study import parse_study
from tests.server.support.bots import Echo
from tests.server.support.study import AT, NOBODY, RUN, study_text


def make_run(
    url: str, text: str | None = None, bots: Bot | Mapping[str, Bot] | None = None, slug: str = RUN
) -> OpenRun:
    """Open a run in the migrated database at `url`. `bots`: one for all, or some by system; Echo else."""
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        entry = catalog.open_run(connection, text if text is not None else study_text(), slug, AT)
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
        rules=rules_of(study, NOBODY),
        names=names_of(study),
        bots=lineup,
    )


def query(url: str, sql: str, *values: object) -> list[tuple[Any, ...]]:
    """Return what a reader of its own, outside the server, finds in the database."""
    connection = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
    try:
        return connection.execute(sql, values).fetchall()
    finally:
        connection.close()


def execute(url: str, sql: str, *values: object) -> None:
    """Change the database from outside the server."""
    query(url, sql, *values)

"""Store rehearsals: runs of their own, with the simulated workers' opinions of the systems."""

import itertools
import json
from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Connection, insert, select

from server.db.runs.runs import RunEntry, has_run, open_run
from server.db.tables import RehearsalTable, RunTable, StudyTable
from server.study import parse_study


def open_rehearsal(connection: Connection, text: str, quality: Mapping[str, float], at: datetime) -> RunEntry:
    """Open a run that admits simulated workers only, and return it.

    Args:
        connection: A transaction.
        text: The study file's text.
        quality: The simulated workers' opinion of each system, 0 to 1.
        at: The time now.

    Raises:
        StudyInvalid: The study has mistakes.
    """
    name = f"{parse_study(text).name}-rehearsal"[:90]
    names = (f"{name}-{number}" for number in itertools.count(1))
    slug = next(slug for slug in names if not has_run(connection, slug))
    entry = open_run(connection, text, slug, at, kind="rehearsal")
    connection.execute(insert(RehearsalTable).values(run_id=entry.id, quality=json.dumps(dict(quality))))
    return entry


def believed_quality(connection: Connection, run_id: int) -> Mapping[str, float] | None:
    """Return the opinion that a rehearsal's simulated workers have of each system; None for other runs."""
    query = select(RehearsalTable.c.quality).where(RehearsalTable.c.run_id == run_id)
    found = connection.execute(query).scalar_one_or_none()
    return None if found is None else dict(json.loads(found))


def rehearsals_of(connection: Connection, study: str) -> list[int]:
    """Return the ids of the rehearsals of a study, by its name."""
    query = select(RunTable.c.id).join(StudyTable, StudyTable.c.id == RunTable.c.study_id)
    return list(
        connection.execute(query.where(StudyTable.c.name == study, RunTable.c.kind == "rehearsal")).scalars()
    )

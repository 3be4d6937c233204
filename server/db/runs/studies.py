"""Store studies as researchers write them: every save is a version that stays. Runs are opened from versions.

A version is identified by its study's name and its number. A run belongs to the version whose text has the
same hash. A study that was opened from a file becomes a version, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, delete, func, insert, select, update

from server.db.tables import DraftTable, DraftVersionTable, RunTable, StudyTable
from server.errors import StudyChanged, StudyExists, StudyNotFound, StudyOpened
from server.study import study_hash


@dataclass(frozen=True, slots=True)
class StudyVersion:
    """A saved version of a study: its number, from 1, and who saved it when."""

    number: int
    yaml: str
    saved_at: datetime
    saved_by: str

    @property
    def hash(self) -> str:
        """The fingerprint of its text."""
        return study_hash(self.yaml)


@dataclass(frozen=True, slots=True)
class StoredStudy:
    """A study with its newest version. `archived_at`: since when it is archived."""

    name: str
    archived_at: datetime | None
    newest: StudyVersion


@dataclass(frozen=True, slots=True)
class RunOfStudy:
    """A run of a study. `version`: the number of the version that it was opened from."""

    run: str
    status: str
    version: int | None


def all_studies(connection: Connection) -> list[StoredStudy]:
    """Return every study, by name."""
    return [_study(tuple(row)) for row in connection.execute(_newest().order_by(DraftTable.c.name))]


def find_study(connection: Connection, name: str) -> StoredStudy:
    """Return the study `name`. Raises StudyNotFound."""
    row = connection.execute(_newest().where(DraftTable.c.name == name)).one_or_none()
    if row is None:
        raise StudyNotFound(f"There is no study named “{name}”")
    return _study(tuple(row))


def versions(connection: Connection, name: str) -> list[StudyVersion]:
    """Return every version of a study, newest first; none if there is no such study."""
    query = _versions().where(DraftVersionTable.c.name == name).order_by(DraftVersionTable.c.number.desc())
    return [StudyVersion(*row) for row in connection.execute(query)]


def find_version(connection: Connection, name: str, number: int) -> StudyVersion:
    """Return one version of a study. Raises StudyNotFound."""
    query = _versions().where(DraftVersionTable.c.name == name, DraftVersionTable.c.number == number)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise StudyNotFound(f"There is no version {number} of a study named “{name}”")
    return StudyVersion(*row)


def runs_of(connection: Connection) -> dict[str, list[RunOfStudy]]:
    """Return the runs of every study that has some, oldest first, without rehearsals."""
    query = (
        select(StudyTable.c.name, RunTable.c.slug, RunTable.c.status, func.min(DraftVersionTable.c.number))
        .join(StudyTable, StudyTable.c.id == RunTable.c.study_id)
        .outerjoin(
            DraftVersionTable,
            (DraftVersionTable.c.name == StudyTable.c.name) & (DraftVersionTable.c.hash == StudyTable.c.hash),
        )
        .where(RunTable.c.kind == "study")
        .group_by(RunTable.c.id, StudyTable.c.name, RunTable.c.slug, RunTable.c.status)
        .order_by(RunTable.c.id)
    )
    found: dict[str, list[RunOfStudy]] = {}
    for row in connection.execute(query):
        found.setdefault(row[0], []).append(RunOfStudy(*row[1:]))
    return found


def create_study(connection: Connection, name: str, yaml: str, at: datetime, by: str) -> StoredStudy:
    """Store a new study. Raises StudyExists if the name is taken."""
    if (
        connection.execute(select(DraftTable.c.name).where(DraftTable.c.name == name)).one_or_none()
        is not None
    ):
        raise StudyExists(f"A study named “{name}” exists already")
    connection.execute(insert(DraftTable).values(name=name))
    _add_version(connection, name, StudyVersion(1, yaml, at, by))
    return find_study(connection, name)


def save_version(
    connection: Connection, name: str, yaml: str, based_on: int, at: datetime, by: str
) -> StoredStudy:
    """Store a study's next version, unless the text is the same as the newest version's.

    Args:
        connection: A transaction.
        name: The study's name.
        yaml: Its new text.
        based_on: The number of the version that was edited.
        at: The time now.
        by: Who saves it.

    Raises:
        StudyNotFound: There is no such study.
        StudyChanged: Somebody else has saved another version meanwhile; nothing was stored.
    """
    # On PostgreSQL, if two save at once, the second waits here, and sees the first one's version.
    connection.execute(select(DraftTable.c.name).where(DraftTable.c.name == name).with_for_update())
    newest = find_study(connection, name).newest
    if newest.yaml == yaml:
        return find_study(connection, name)
    if newest.number != based_on:
        raise StudyChanged(
            f"{newest.saved_by} has saved version {newest.number} of “{name}” "
            f"while you edited version {based_on}"
        )
    _add_version(connection, name, StudyVersion(newest.number + 1, yaml, at, by))
    return find_study(connection, name)


def keep_version(connection: Connection, name: str, yaml: str, at: datetime, by: str) -> None:
    """Make a text that is opened as a run a version of its study, if it is none yet."""
    known = select(DraftVersionTable.c.number).where(
        DraftVersionTable.c.name == name, DraftVersionTable.c.hash == study_hash(yaml)
    )
    if connection.execute(known.limit(1)).one_or_none() is not None:
        return
    newest = connection.execute(
        select(func.max(DraftVersionTable.c.number)).where(DraftVersionTable.c.name == name)
    ).scalar_one()
    if newest is None:
        connection.execute(insert(DraftTable).values(name=name))
    _add_version(connection, name, StudyVersion((newest or 0) + 1, yaml, at, by))


def set_archived(connection: Connection, name: str, at: datetime | None) -> StoredStudy:
    """Archive a study, or (None) bring it back. Its runs go on. Raises StudyNotFound."""
    find_study(connection, name)
    connection.execute(update(DraftTable).where(DraftTable.c.name == name).values(archived_at=at))
    return find_study(connection, name)


def delete_study(connection: Connection, name: str) -> None:
    """Forget a study that was never opened or rehearsed. Raises StudyNotFound, StudyOpened."""
    find_study(connection, name)
    opened = runs_of(connection).get(name, [])
    if opened:
        raise StudyOpened(f"“{name}” was opened as {', '.join(run.run for run in opened)}")
    rehearsed = (
        select(RunTable.c.id)
        .join(StudyTable, StudyTable.c.id == RunTable.c.study_id)
        .where(StudyTable.c.name == name)
    )
    if connection.execute(rehearsed.limit(1)).one_or_none() is not None:
        raise StudyOpened(f"“{name}” was rehearsed, and its rehearsals need it")
    connection.execute(delete(DraftVersionTable).where(DraftVersionTable.c.name == name))
    connection.execute(delete(DraftTable).where(DraftTable.c.name == name))


def _add_version(connection: Connection, name: str, version: StudyVersion) -> None:
    values = {
        "name": name,
        "number": version.number,
        "yaml": version.yaml,
        "hash": version.hash,
        "saved_at": version.saved_at,
        "saved_by": version.saved_by,
    }
    connection.execute(insert(DraftVersionTable).values(values))


def _versions() -> Select[Any]:
    return select(
        DraftVersionTable.c.number,
        DraftVersionTable.c.yaml,
        DraftVersionTable.c.saved_at,
        DraftVersionTable.c.saved_by,
    )


def _newest() -> Select[Any]:
    newest = (
        select(DraftVersionTable.c.name, func.max(DraftVersionTable.c.number).label("number"))
        .group_by(DraftVersionTable.c.name)
        .subquery()
    )
    return (
        select(
            DraftTable.c.name,
            DraftTable.c.archived_at,
            DraftVersionTable.c.number,
            DraftVersionTable.c.yaml,
            DraftVersionTable.c.saved_at,
            DraftVersionTable.c.saved_by,
        )
        .join(newest, newest.c.name == DraftTable.c.name)
        .join(
            DraftVersionTable,
            (DraftVersionTable.c.name == DraftTable.c.name) & (DraftVersionTable.c.number == newest.c.number),
        )
    )


def _study(row: Sequence[Any]) -> StoredStudy:
    return StoredStudy(row[0], row[1], StudyVersion(*row[2:]))

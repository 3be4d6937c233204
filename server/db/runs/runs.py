"""Open and find runs, each with its study. `run_states` changes them."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection, bindparam, insert, select, text

from server.db.runs.items import NewItem, bot_id, store_items
from server.db.runs.studies import keep_version
from server.db.tables import (
    CHOICE_SEPARATOR,
    CriterionTable,
    QuestionTable,
    RegistrationTable,
    RevisionTable,
    RunTable,
    StudyTable,
    SystemTable,
)
from server.errors import RunNotFound, StudyInvalid
from server.session.instrument import PARTS
from server.session.plan import QC, derive_seed
from server.study import Study, SystemSpec, parse_study, study_hash

RunStatus = Literal["open", "paused", "closed"]
Cause = Literal["researcher", "target", "budget"]  # who or what changed a run's status
RunKind = Literal["study", "rehearsal"]
_SLUG = re.compile("[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_LOCK = select(RunTable.c.id).where(RunTable.c.id == bindparam("run")).with_for_update(key_share=True)


@dataclass(frozen=True, slots=True)
class RunEntry:
    """A run with the text of its study.

    `cause` and `reason` explain its status, for programs and for people; the reason may be empty.
    """

    id: int
    slug: str
    seed: int
    status: RunStatus
    created_at: datetime
    yaml: str
    kind: RunKind = "study"
    cause: Cause = "researcher"
    reason: str = ""
    closed_at: datetime | None = None


def open_run(
    connection: Connection,
    text: str,
    slug: str,
    at: datetime,
    items: Sequence[NewItem] = (),
    kind: RunKind = "study",
) -> RunEntry:
    """Return the run named `slug` of the study in `text`, opening it if it is new.

    Args:
        connection: A transaction.
        text: The study file's text.
        slug: The run's name.
        at: The time now.
        items: The items to rate, in studies without chats; an existing run keeps its own.
        kind: `rehearsal` for a run that admits simulated workers only, whose data are kept apart from others.

    Raises:
        StudyInvalid: The study has mistakes, the run exists with another study, or the name is invalid.
    """
    require_slug(slug)
    study = parse_study(text)
    raise_revision(connection, "runs")
    found = find_opened(connection, text, slug)
    if found is not None:
        return found
    study_id = _study_id(connection, study, text, slug, at)
    opened = insert(RunTable).values(
        study_id=study_id,
        slug=slug,
        seed=derive_seed("run", slug, study_hash(text)),
        status="open",
        created_at=at,
        kind=kind,
    )
    run_id = int(connection.execute(opened.returning(RunTable.c.id)).scalar_one())
    if items:
        store_items(connection, run_id, study_id, items)
    return _entries(connection, slug)[0]


def find_opened(connection: Connection, text: str, slug: str) -> RunEntry | None:
    """Return the run named `slug`, if it exists. Raises StudyInvalid if it is a run of another study."""
    found = _entries(connection, slug)
    if found and study_hash(found[0].yaml) != study_hash(text):
        raise StudyInvalid(
            f"The run “{slug}” exists, and it is of another version of the study",
            "Runs do not change once opened: give the changed study another run name.",
        )
    return found[0] if found else None


def require_slug(slug: str) -> None:
    """Check that `slug` can be part of a link. Raises StudyInvalid."""
    if not _SLUG.fullmatch(slug):
        raise StudyInvalid(
            f"“{slug}” cannot be the name of a run",
            "Use letters, digits, - and _, starting with a letter or a digit, at most 100 characters.",
        )


def all_runs(connection: Connection) -> list[RunEntry]:
    """Return every run, oldest first."""
    return _entries(connection, None)


def studies_of_runs(connection: Connection, known: Collection[int]) -> list[tuple[int, str]]:
    """Return the ids of the runs that are not `known`, each with the text of its study."""
    numbers = set(connection.execute(select(RunTable.c.id)).scalars()) - set(known)
    query = select(RunTable.c.id, StudyTable.c.yaml).join(StudyTable, StudyTable.c.id == RunTable.c.study_id)
    rows = connection.execute(query.where(RunTable.c.id.in_(numbers))) if numbers else ()
    return [(row.id, row.yaml) for row in rows]


def open_slugs(connection: Connection, run_ids: Collection[int]) -> dict[int, str]:
    """Return the names of the open runs among these."""
    query = select(RunTable.c.id, RunTable.c.slug).where(
        RunTable.c.id.in_(run_ids), RunTable.c.status == "open"
    )
    return {row.id: row.slug for row in connection.execute(query)}


def find_run(connection: Connection, slug: str) -> RunEntry:
    """Return the run named `slug`. Raises RunNotFound."""
    found = _entries(connection, slug)
    if not found:
        raise RunNotFound(f"There is no run named “{slug}”")
    return found[0]


def lock_run(connection: Connection, run: int) -> None:
    """Lock a run until the transaction ends; others who lock it wait. SQLite has one writer anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(_LOCK, {"run": run})


def has_run(connection: Connection, slug: str) -> bool:
    """Return whether there is a run named `slug`."""
    return connection.execute(select(RunTable.c.id).where(RunTable.c.slug == slug)).one_or_none() is not None


def _entries(connection: Connection, slug: str | None) -> list[RunEntry]:
    query = select(
        RunTable.c.id,
        RunTable.c.slug,
        RunTable.c.seed,
        RunTable.c.status,
        RunTable.c.created_at,
        StudyTable.c.yaml,
        RunTable.c.kind,
        RunTable.c.cause,
        RunTable.c.reason,
        RunTable.c.closed_at,
    ).join(StudyTable, StudyTable.c.id == RunTable.c.study_id)
    if slug is not None:
        query = query.where(RunTable.c.slug == slug)
    return [RunEntry(**row._mapping) for row in connection.execute(query.order_by(RunTable.c.id))]


def _study_id(connection: Connection, study: Study, text: str, slug: str, at: datetime) -> int:
    fingerprint = study_hash(text)
    query = select(StudyTable.c.id).where(StudyTable.c.name == study.name, StudyTable.c.hash == fingerprint)
    found = connection.execute(query).scalar_one_or_none()
    if found is not None:
        return int(found)
    stored = insert(StudyTable).values(
        name=study.name,
        hash=fingerprint,
        yaml=text,
        created_at=at,
        task=study.task,
        turn_points=study.turn_points,
    )
    study_id = int(connection.execute(stored.returning(StudyTable.c.id)).scalar_one())
    keep_version(connection, study.name, text, at, f"the run {slug}")
    if study.criteria:
        connection.execute(insert(CriterionTable), _criteria(study_id, study))
    if questions := _questions(study_id, study):
        connection.execute(insert(QuestionTable), questions)
    if study.task_type.chats:
        connection.execute(insert(SystemTable), _systems(connection, study_id, study))
    return study_id


def _criteria(study_id: int, study: Study) -> list[dict[str, object]]:
    return [
        {
            "study_id": study_id,
            "label": criterion.label,
            "position": position,
            "statement": criterion.statement,
            "negative": criterion.negative,
            "counts_for_qc": criterion.qc,
        }
        for position, criterion in enumerate(c for c in study.criteria if c.is_scored)
    ]


def _questions(study_id: int, study: Study) -> list[dict[str, object]]:
    return [
        {
            "study_id": study_id,
            "part": part,
            "label": asked.label,
            "position": position,
            "question": asked.question,
            "kind": asked.kind,
            "choices": CHOICE_SEPARATOR.join(" ".join(choice.split()) for choice in asked.choices),
            "points": asked.points,
        }
        for part in PARTS
        for position, asked in enumerate(study.asked.of(part))
    ]


def _systems(connection: Connection, study_id: int, study: Study) -> list[dict[str, object]]:
    qc = SystemSpec(name=QC, family=QC, bot=study.qc.bot)
    return [
        {
            "study_id": study_id,
            "bot_id": bot_id(connection, _spec(connection, study, system.bot)),
            "name": system.name,
            "family": system.family,
            "persona_policy": system.persona if isinstance(system.persona, str) else "fixed",
            "is_qc": system is qc,
        }
        for system in [*study.systems, qc]
    ]


def _spec(connection: Connection, study: Study, bot: str) -> str:
    """Return a bot's spec when the study was opened, with its endpoint if it has one."""
    endpoint: str | None = None
    if bot in study.bots:
        endpoint = study.bots[bot].model_dump_json(exclude_none=True)
    elif bot in study.registered_bots:
        registered = select(RegistrationTable.c.endpoint).where(RegistrationTable.c.name == bot)
        endpoint = connection.execute(registered).scalar_one_or_none()
    return bot if endpoint is None else f"{bot} {endpoint}"


Subject = Literal["bots", "runs"]
_RAISE = text("""
    INSERT INTO revision (subject, number) VALUES (:subject, 1)
    ON CONFLICT (subject) DO UPDATE SET number = revision.number + 1""")


def raise_revision(connection: Connection, subject: Subject) -> None:
    """Note that this transaction changes `subject`; call this before reading anything for the change.

    Other transactions that change it wait until this one ends, so that none of them uses outdated data.
    """
    connection.execute(_RAISE, {"subject": subject})


def revisions(connection: Connection) -> Mapping[str, int]:
    """Return the revision of each subject that was ever changed. Read it before the subjects."""
    rows = connection.execute(select(RevisionTable.c.subject, RevisionTable.c.number))
    return {row.subject: row.number for row in rows}

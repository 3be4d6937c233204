"""Store a run's study on a platform, and which events of the platform are handled."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    bindparam,
    delete,
    func,
    insert,
    not_,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.exc import IntegrityError

from server.db.tables import RecruitmentCodeTable, RecruitmentTable, RunTable
from server.db.tables.recruiting import PlatformEventTable
from server.errors import NotRecruiting, RecruitmentExists
from server.recruiters.pay_platform import EndingKind

DRAFTING = "DRAFTING"  # the status of a study from before the platform is asked to draft it until it answers
NEVER_READ = (DRAFTING, "UNPUBLISHED", "COMPLETED")  # studies without news (any more)


@dataclass(frozen=True, slots=True)
class NewRecruitment:
    """A study that a platform is about to be asked to draft; `codes`: its completion codes by ending."""

    platform: str
    places: int
    reward: int
    codes: Mapping[EndingKind, str]


@dataclass(frozen=True, slots=True)
class StoredRecruitment:
    """A run's study on a platform, as last read; while it is DRAFTING its `study` is empty."""

    id: int
    run_id: int
    run: str
    platform: str
    study: str
    status: str
    places: int
    reward: int
    currency: str | None
    created_at: datetime
    created_by: str
    read_at: datetime | None
    fault: str | None
    codes: Mapping[str, str]


def add_recruitment(
    connection: Connection, run_id: int, new: NewRecruitment, by: str, at: datetime
) -> StoredRecruitment:
    """Store that a platform is about to be asked to draft a run's study. Raises RecruitmentExists."""
    values = {
        "run_id": run_id,
        "platform": new.platform,
        "study": "",
        "status": DRAFTING,
        "places": new.places,
        "reward": new.reward,
        "created_at": at,
        "created_by": by,
    }
    try:
        with connection.begin_nested():
            made = connection.execute(
                insert(RecruitmentTable).values(values).returning(RecruitmentTable.c.id)
            )
            number = int(made.scalar_one())
    except IntegrityError as error:
        raise RecruitmentExists("This run has a study on a platform already") from error
    codes = [{"recruitment_id": number, "ending": k, "code": code} for k, code in new.codes.items()]
    connection.execute(insert(RecruitmentCodeTable), codes)
    return require_recruitment(connection, run_id)


def recruitment_of(connection: Connection, run_id: int) -> StoredRecruitment | None:
    """Return a run's study on a platform; None if it has none."""
    row = connection.execute(_recruitments().where(RecruitmentTable.c.run_id == run_id)).one_or_none()
    return None if row is None else _recruitment(connection, row)


def require_recruitment(connection: Connection, run_id: int) -> StoredRecruitment:
    """Return a run's study on a platform. Raises NotRecruiting if it has none."""
    found = recruitment_of(connection, run_id)
    if found is None:
        raise NotRecruiting("This run has no study on a platform yet")
    return found


def lock_recruitment(connection: Connection, number: int) -> None:
    """Lock a study until this transaction ends; others who lock it wait."""
    connection.execute(select(RecruitmentTable.c.id).where(RecruitmentTable.c.id == number).with_for_update())


def codes_of(connection: Connection, run_id: int) -> dict[str, str]:
    """Return the completion codes of a run's study on a platform, by ending; none if it has no study."""
    return {row.ending: row.code for row in connection.execute(_CODES, {"run": run_id})}


_CODES = (
    select(RecruitmentCodeTable.c.ending, RecruitmentCodeTable.c.code)
    .join(RecruitmentTable, RecruitmentTable.c.id == RecruitmentCodeTable.c.recruitment_id)
    .where(RecruitmentTable.c.run_id == bindparam("run"))
)


def leads_to_run(connection: Connection, study: str | None, run: str) -> bool:
    """Return whether participants of a study on the platform belong to a run, as far as is known here.

    Nothing is known of studies made there by hand, and of runs without a study drafted here: then it is True.
    """
    query = select(RunTable.c.slug, RecruitmentTable.c.study).join(
        RunTable, RunTable.c.id == RecruitmentTable.c.run_id
    )
    known = connection.execute(query.where(or_(RunTable.c.slug == run, RecruitmentTable.c.study == study)))
    return all((row.slug, row.study) == (run, study) for row in known)


def open_recruitments(connection: Connection) -> list[StoredRecruitment]:
    """Return the studies that may still have news: all that were ever published."""
    query = _recruitments().where(RecruitmentTable.c.status.not_in(NEVER_READ))
    return [
        _recruitment(connection, row) for row in connection.execute(query.order_by(RecruitmentTable.c.id))
    ]


def note_drafted(connection: Connection, number: int, study: str, status: str) -> None:
    """Store the platform's id and status of a study that it was asked to draft."""
    changed = update(RecruitmentTable).where(
        RecruitmentTable.c.id == number, RecruitmentTable.c.status == DRAFTING
    )
    connection.execute(changed.values(study=study, status=status, fault=None))


def remove_recruitment(connection: Connection, number: int) -> None:
    """Forget a study that was drafted but never published, so that nothing refers to it."""
    connection.execute(delete(RecruitmentCodeTable).where(RecruitmentCodeTable.c.recruitment_id == number))
    connection.execute(delete(RecruitmentTable).where(RecruitmentTable.c.id == number))


def note_study(connection: Connection, number: int, status: str, places: int) -> None:
    """Store a study's current state at the platform."""
    changed = update(RecruitmentTable).where(RecruitmentTable.c.id == number)
    connection.execute(changed.values(status=status, places=places))


def note_currency(connection: Connection, number: int, currency: str | None) -> None:
    """Store the currency in which a study is paid."""
    connection.execute(
        update(RecruitmentTable).where(RecruitmentTable.c.id == number).values(currency=currency)
    )


def note_reading(
    connection: Connection, number: int, status: str, places: int, began: datetime, at: datetime
) -> bool:
    """Store a study's state from a reading of the platform; return whether this is the newest reading.

    It is not, and nothing is stored, if another process has stored one that began later. This must come first
    in the transaction of a reading: on PostgreSQL others wait for the row.

    Args:
        connection: A transaction.
        number: The study's number here.
        status: Its status.
        places: Its number of places.
        began: The time before the platform was asked.
        at: The time now. A stored reading later than this comes from a clock that was set back, and is
            ignored.
    """
    newest = update(RecruitmentTable).where(RecruitmentTable.c.id == number, _not_read_since(began, at))
    values = {"status": status, "places": places, "fault": None, "read_at": began}
    return connection.execute(newest.values(values)).rowcount == 1


def note_fault(connection: Connection, number: int, fault: str, began: datetime, at: datetime) -> None:
    """Store why a reading failed, unless one that began later succeeded; see `note_reading`."""
    newest = update(RecruitmentTable).where(RecruitmentTable.c.id == number, _not_read_since(began, at))
    connection.execute(newest.values(fault=fault))


def _not_read_since(began: datetime, at: datetime) -> ColumnElement[bool]:
    read = RecruitmentTable.c.read_at
    return or_(read.is_(None), read <= began, read > at)


def _recruitments() -> Select[Any]:
    return select(
        RecruitmentTable.c.id,
        RecruitmentTable.c.run_id,
        RunTable.c.slug,
        RecruitmentTable.c.platform,
        RecruitmentTable.c.study,
        RecruitmentTable.c.status,
        RecruitmentTable.c.places,
        RecruitmentTable.c.reward,
        RecruitmentTable.c.currency,
        RecruitmentTable.c.created_at,
        RecruitmentTable.c.created_by,
        RecruitmentTable.c.read_at,
        RecruitmentTable.c.fault,
    ).join(RunTable, RunTable.c.id == RecruitmentTable.c.run_id)


def _recruitment(connection: Connection, row: Any) -> StoredRecruitment:
    return StoredRecruitment(*(*row, codes_of(connection, row.run_id)))


_KEPT = timedelta(days=1)  # far longer than a signed event is accepted after it was sent
_LOST = "lost "  # the prefix of a lost event's signature; no genuine signature begins with it
_IS_LOST = PlatformEventTable.c.signature.startswith(_LOST)
_TAKE = text("""
    INSERT INTO platform_event (id, signature, received_at) VALUES (:id, :signature, :at)
    ON CONFLICT DO NOTHING""").bindparams(bindparam("at", type_=PlatformEventTable.c.received_at.type))


@dataclass(frozen=True, slots=True)
class LostEvents:
    """The number of events that did not arrive but are still listed, and when the last was found."""

    number: int
    last: datetime | None


def take_event(connection: Connection, event: str, signature: str, at: datetime) -> bool:
    """Note that an event has arrived; return False if it, or its copy under another id, arrived before."""
    connection.execute(
        delete(PlatformEventTable).where(PlatformEventTable.c.received_at < at - _KEPT, not_(_IS_LOST))
    )
    return _take(connection, event, signature, at)


def new_lost(connection: Connection, listed: Collection[str]) -> set[str]:
    """Return those of the `listed` lost events that were not noted yet."""
    return set(listed) - _lost(connection)


def note_lost(connection: Connection, taken: Collection[str], listed: Collection[str], at: datetime) -> None:
    """Note lost events that were handled now.

    They stay noted as long as they are `listed`, because the platform may list one for ever.
    """
    for event in _lost(connection).difference(listed):
        connection.execute(delete(PlatformEventTable).where(PlatformEventTable.c.id == event))
    for event in sorted(taken):
        _take(connection, event, f"{_LOST}{event}", at)


def lost_events(connection: Connection) -> LostEvents:
    """Count the lost events."""
    query = select(func.count(), func.max(PlatformEventTable.c.received_at)).where(_IS_LOST)
    return LostEvents(*connection.execute(query).one())


def _lost(connection: Connection) -> set[str]:
    return set(connection.execute(select(PlatformEventTable.c.id).where(_IS_LOST)).scalars())


def _take(connection: Connection, event: str, signature: str, at: datetime) -> bool:
    return connection.execute(_TAKE, {"id": event, "signature": signature, "at": at}).rowcount == 1

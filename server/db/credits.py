"""Store the credits of students: at most one for each worker of a run."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, and_, delete, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from server.db.message_reports import earned_all
from server.db.models import Assignment, Credit, Worker, columns
from server.db.worker_ids import FORGOTTEN

ASSIGNMENT = columns(Assignment)
CREDIT = columns(Credit)
WORKER = columns(Worker)
_AT_ONCE = 100  # in a look, so that one does not last for hours
_OPEN = or_(CREDIT.status.is_(None), CREDIT.status == "unreachable")


@dataclass(frozen=True, slots=True)
class DueCredit:
    """A worker who has earned a credit and has none yet. `external_id` is as the database keeps it."""

    run_id: int
    worker_id: int
    external_id: str


@dataclass(frozen=True, slots=True)
class StoredCredit:
    """What came of asking for a worker's credit; `status` is None of who was not asked for yet."""

    worker: str
    status: str | None
    reason: str
    tried_at: datetime | None


def runs_with_due_credits(connection: Connection, platform: str) -> list[int]:
    """Return the runs in which workers of a platform were neither credited nor refused who are to have it.

    These have handed in, or left with a report.
    """
    query = _finished(platform, ASSIGNMENT.run_id).where(_OPEN).distinct()
    return list(connection.execute(query).scalars())


def due_credits(connection: Connection, platform: str, run_id: int) -> list[DueCredit]:
    """Return some of the workers of a run who wait for a credit, those who were never tried first."""
    query = _finished(
        platform, ASSIGNMENT.run_id, ASSIGNMENT.worker_id, WORKER.external_id, CREDIT.tried_at
    ).where(_OPEN, ASSIGNMENT.run_id == run_id)
    never_first = query.order_by(CREDIT.tried_at.is_not(None), CREDIT.tried_at, ASSIGNMENT.worker_id)
    found = connection.execute(never_first.limit(_AT_ONCE)).all()
    return [DueCredit(row.run_id, row.worker_id, row.external_id) for row in found]


def store_credit(connection: Connection, due: DueCredit, status: str, reason: str, at: datetime) -> None:
    """Store what came of asking. A credit that is stored as granted stays so."""
    values = {"status": status, "reason": reason, "tried_at": at}
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    added = dialect.insert(Credit).values(run_id=due.run_id, worker_id=due.worker_id, **values)
    connection.execute(
        added.on_conflict_do_update(
            index_elements=["run_id", "worker_id"], set_=values, where=CREDIT.status != "granted"
        )
    )


def credits_of(connection: Connection, platform: str, run_id: int) -> list[StoredCredit]:
    """Return the credits of a run, of everybody from a platform who has earned one, by pseudonym."""
    query = _finished(platform, WORKER.pseudonym, CREDIT.status, CREDIT.reason, CREDIT.tried_at)
    found = connection.execute(query.where(ASSIGNMENT.run_id == run_id).order_by(WORKER.pseudonym)).all()
    return [StoredCredit(row.pseudonym, row.status, row.reason or "", row.tried_at) for row in found]


def ask_again(connection: Connection, run_id: int) -> int:
    """Have refused credits of a run tried again; return how many these are."""
    refused = delete(Credit).where(CREDIT.run_id == run_id, CREDIT.status == "refused")
    return connection.execute(refused).rowcount


def _finished(platform: str, *shown: Any) -> Select[Any]:
    return (
        select(*shown)
        .select_from(Assignment)
        .join(Worker, WORKER.id == ASSIGNMENT.worker_id)
        .outerjoin(Credit, and_(CREDIT.run_id == ASSIGNMENT.run_id, CREDIT.worker_id == ASSIGNMENT.worker_id))
        .where(
            earned_all(),
            ASSIGNMENT.simulated.is_(False),
            WORKER.platform == platform,
            ~WORKER.external_id.startswith(FORGOTTEN),
        )
    )

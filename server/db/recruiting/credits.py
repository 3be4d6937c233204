"""Store the credits of students: at most one for each worker of a run."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, and_, delete, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from server.db.review import earned_all
from server.db.secrets import FORGOTTEN
from server.db.tables import AssignmentTable, CreditTable, WorkerTable

_AT_ONCE = 100  # credits per round, so that a round does not last for hours
_OPEN = or_(CreditTable.c.status.is_(None), CreditTable.c.status == "unreachable")


@dataclass(frozen=True, slots=True)
class DueCredit:
    """A worker who has earned a credit and has none yet. `external_id` is in its stored form."""

    run_id: int
    worker_id: int
    external_id: str


@dataclass(frozen=True, slots=True)
class StoredCredit:
    """The result of requesting a worker's credit; `status` is None if it was not requested yet."""

    worker: str
    status: str | None
    reason: str
    tried_at: datetime | None


def runs_with_due_credits(connection: Connection, platform: str) -> list[int]:
    """Return the runs with workers of a platform whose credit is neither granted nor refused.

    These workers have submitted, or left with a report.
    """
    query = _finished(platform, AssignmentTable.c.run_id).where(_OPEN).distinct()
    return list(connection.execute(query).scalars())


def due_credits(connection: Connection, platform: str, run_id: int) -> list[DueCredit]:
    """Return some of the workers of a run who wait for a credit, those never tried first."""
    query = _finished(
        platform,
        AssignmentTable.c.run_id,
        AssignmentTable.c.worker_id,
        WorkerTable.c.external_id,
        CreditTable.c.tried_at,
    ).where(_OPEN, AssignmentTable.c.run_id == run_id)
    never_first = query.order_by(
        CreditTable.c.tried_at.is_not(None), CreditTable.c.tried_at, AssignmentTable.c.worker_id
    )
    found = connection.execute(never_first.limit(_AT_ONCE)).all()
    return [DueCredit(row.run_id, row.worker_id, row.external_id) for row in found]


def store_credit(connection: Connection, due: DueCredit, status: str, reason: str, at: datetime) -> None:
    """Store the result of a request. A credit that is stored as granted stays so."""
    values = {"status": status, "reason": reason, "tried_at": at}
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    added = dialect.insert(CreditTable).values(run_id=due.run_id, worker_id=due.worker_id, **values)
    connection.execute(
        added.on_conflict_do_update(
            index_elements=["run_id", "worker_id"], set_=values, where=CreditTable.c.status != "granted"
        )
    )


def credits_of(connection: Connection, platform: str, run_id: int) -> list[StoredCredit]:
    """Return the credits of a run, for every worker of a platform who has earned one, by pseudonym."""
    query = _finished(
        platform, WorkerTable.c.pseudonym, CreditTable.c.status, CreditTable.c.reason, CreditTable.c.tried_at
    )
    found = connection.execute(
        query.where(AssignmentTable.c.run_id == run_id).order_by(WorkerTable.c.pseudonym)
    ).all()
    return [StoredCredit(row.pseudonym, row.status, row.reason or "", row.tried_at) for row in found]


def ask_again(connection: Connection, run_id: int) -> int:
    """Let refused credits of a run be requested again; return how many there are."""
    refused = delete(CreditTable).where(CreditTable.c.run_id == run_id, CreditTable.c.status == "refused")
    return connection.execute(refused).rowcount


def _finished(platform: str, *shown: Any) -> Select[Any]:
    return (
        select(*shown)
        .select_from(AssignmentTable)
        .join(WorkerTable, WorkerTable.c.id == AssignmentTable.c.worker_id)
        .outerjoin(
            CreditTable,
            and_(
                CreditTable.c.run_id == AssignmentTable.c.run_id,
                CreditTable.c.worker_id == AssignmentTable.c.worker_id,
            ),
        )
        .where(
            earned_all(),
            AssignmentTable.c.simulated.is_(False),
            WorkerTable.c.platform == platform,
            ~WorkerTable.c.external_id.startswith(FORGOTTEN),
        )
    )

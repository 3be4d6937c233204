"""Load the assignments of workers sent by a platform, with the facts that decide their pay."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from server.db.review.message_reports import left_with_report
from server.db.tables import AssignmentTable, ConversationTable, ExclusionTable, VisitTable, WorkerTable


@dataclass(frozen=True, slots=True)
class Participation:
    """The facts of an assignment that decide pay: its number of conversations, and of rated and failed ones.

    `left_with_report`: the worker has left with a report of a message, which is paid in full. `worker`: their
    pseudonym. `visits`: the platform's ids of the worker's visits.
    """

    assignment: str
    worker: str
    status: str
    conversations: int
    rated: int
    failed: int
    excluded: bool
    left_with_report: bool
    visits: tuple[str, ...]

    @property
    def earned_all(self) -> bool:
        """Whether the full pay is due: they have submitted, or left with a report."""
        return self.status == "completed" or self.left_with_report


def participations(connection: Connection, run_id: int) -> list[Participation]:
    """Return the assignments of a run whose workers a platform has sent."""
    visits: dict[str, list[str]] = {}
    came = (
        select(VisitTable.c.assignment_id, VisitTable.c.visit)
        .join(AssignmentTable, AssignmentTable.c.id == VisitTable.c.assignment_id)
        .where(AssignmentTable.c.run_id == run_id, AssignmentTable.c.simulated.is_(False))
        .order_by(VisitTable.c.at, VisitTable.c.visit)
    )
    for row in connection.execute(came):
        visits.setdefault(row.assignment_id, []).append(row.visit)
    counted = (
        select(
            ConversationTable.c.assignment_id,
            func.max(ConversationTable.c.position).label("conversations"),
            func.count(ConversationTable.c.rated_at).label("rated"),
            func.count(ConversationTable.c.id).filter(ConversationTable.c.status == "failed").label("failed"),
        )
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
        .where(AssignmentTable.c.run_id == run_id)
        .group_by(ConversationTable.c.assignment_id)
    )
    counts = {row.assignment_id: row for row in connection.execute(counted)}
    query = (
        select(
            AssignmentTable.c.id,
            WorkerTable.c.pseudonym,
            AssignmentTable.c.status,
            ExclusionTable.c.assignment_id.label("excluded"),
            AssignmentTable.c.id.in_(left_with_report()).label("left_with_report"),
        )
        .join(WorkerTable, WorkerTable.c.id == AssignmentTable.c.worker_id)
        .outerjoin(ExclusionTable, ExclusionTable.c.assignment_id == AssignmentTable.c.id)
        .where(AssignmentTable.c.run_id == run_id, AssignmentTable.c.id.in_(visits))
        .order_by(AssignmentTable.c.created_at, AssignmentTable.c.id)
    )
    rows: list[Any] = list(connection.execute(query))
    return [_participation(row, counts.get(row.id), visits[row.id]) for row in rows]


def _participation(row: Any, counted: Any, visits: Sequence[str]) -> Participation:
    return Participation(
        assignment=row.id,
        worker=row.pseudonym,
        status=row.status,
        conversations=0 if counted is None else counted.conversations,
        rated=0 if counted is None else counted.rated,
        failed=0 if counted is None else counted.failed,
        excluded=row.excluded is not None,
        left_with_report=row.left_with_report,
        visits=tuple(visits),
    )

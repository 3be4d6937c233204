"""The assignments of those whom a platform has sent, as their pay goes by them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from server.db.review.message_reports import left_with_report
from server.db.tables import Assignment, Conversation, Exclusion, Visit, Worker


@dataclass(frozen=True, slots=True)
class Participation:
    """An assignment as pay looks at it: how many conversations it has, and how many rated and failed ones.

    `left_with_report`: they have reported a message and left with it, which is paid in full. `worker`: their
    pseudonym. `visits`: as what its worker has come, in the platform's words.
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
        """Whether all of the pay is due: they have handed in, or left with a report."""
        return self.status == "completed" or self.left_with_report


def participations(connection: Connection, run_id: int) -> list[Participation]:
    """Return the assignments of a run whose workers have come from a platform, as pay looks at them."""
    visits: dict[str, list[str]] = {}
    came = (
        select(Visit.c.assignment_id, Visit.c.visit)
        .join(Assignment, Assignment.c.id == Visit.c.assignment_id)
        .where(Assignment.c.run_id == run_id, Assignment.c.simulated.is_(False))
        .order_by(Visit.c.at, Visit.c.visit)
    )
    for row in connection.execute(came):
        visits.setdefault(row.assignment_id, []).append(row.visit)
    counted = (
        select(
            Conversation.c.assignment_id,
            func.max(Conversation.c.position).label("conversations"),
            func.count(Conversation.c.rated_at).label("rated"),
            func.count(Conversation.c.id).filter(Conversation.c.status == "failed").label("failed"),
        )
        .join(Assignment, Assignment.c.id == Conversation.c.assignment_id)
        .where(Assignment.c.run_id == run_id)
        .group_by(Conversation.c.assignment_id)
    )
    counts = {row.assignment_id: row for row in connection.execute(counted)}
    query = (
        select(
            Assignment.c.id,
            Worker.c.pseudonym,
            Assignment.c.status,
            Exclusion.c.assignment_id.label("excluded"),
            Assignment.c.id.in_(left_with_report()).label("left_with_report"),
        )
        .join(Worker, Worker.c.id == Assignment.c.worker_id)
        .outerjoin(Exclusion, Exclusion.c.assignment_id == Assignment.c.id)
        .where(Assignment.c.run_id == run_id, Assignment.c.id.in_(visits))
        .order_by(Assignment.c.created_at, Assignment.c.id)
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

"""Load the assignments of workers sent by a platform, with the facts that decide their pay."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from server.db.review.message_reports import left_with_report
from server.db.tables import Assignment, Conversation, Exclusion, Visit, Worker


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

"""Store researchers' interventions: notices to workers, and assignments excluded from the analysis."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Row, bindparam, delete, insert, or_, select, update

from server.db.sessions import write as rows
from server.db.tables import AssignmentTable, ExclusionTable, NoticeTable
from server.errors import AssignmentNotFound, AssignmentOver
from server.session.records import Closed


@dataclass(frozen=True, slots=True)
class StoredNotice:
    """A notice to workers of a run. `assignment`: its only addressee; None: all active workers."""

    id: int
    run: int
    assignment: str | None
    text: str

    def is_for(self, run: int, assignment: str) -> bool:
        """Return whether the notice is for the worker of an assignment of a run."""
        return self.run == run and self.assignment in {None, assignment}


@dataclass(frozen=True, slots=True)
class AssignmentState:
    """An assignment's state before an action."""

    assignment: str
    run: int
    status: Literal["active", "completed", "returned", "expired"]


def find_assignment(connection: Connection, assignment: str) -> AssignmentState:
    """Return an assignment, locked until the transaction ends.

    Raises:
        AssignmentNotFound: There is no assignment of this id.
    """
    query = select(AssignmentTable.c.id, AssignmentTable.c.run_id, AssignmentTable.c.status).where(
        AssignmentTable.c.id == assignment
    )
    found = connection.execute(query.with_for_update()).one_or_none()
    if found is None:
        raise AssignmentNotFound(f"There is no assignment “{assignment}”")
    return AssignmentState(*found)


def release(connection: Connection, assignment: str, at: datetime) -> AssignmentState:
    """Expire an assignment for a researcher: its worker does not count as having dropped out.

    Raises:
        AssignmentNotFound, AssignmentOver: As `expire`.
    """
    found = expire(connection, assignment, at)
    connection.execute(
        update(AssignmentTable).where(AssignmentTable.c.id == assignment).values(released=True)
    )
    return found


def expire(connection: Connection, assignment: str, at: datetime) -> AssignmentState:
    """End an active assignment, so that its slot is free; return its state before.

    Raises:
        AssignmentNotFound: There is no assignment of this id.
        AssignmentOver: It has ended already.
    """
    found = find_assignment(connection, assignment)
    if found.status != "active":
        raise AssignmentOver(f"Assignment “{assignment}” is {found.status} already")
    rows.write(connection, [(assignment, Closed("expired", at))])
    return found


def add_notice(
    connection: Connection, run: int, assignment: str | None, text: str, at: datetime
) -> StoredNotice:
    """Store a notice to one worker of a run, or to all active workers; return it."""
    values = {"run_id": run, "assignment_id": assignment, "text": text, "created_at": at}
    made = connection.execute(insert(NoticeTable).values(**values).returning(NoticeTable.c.id)).scalar_one()
    return StoredNotice(int(made), run, assignment, text)


def notices_for(connection: Connection, assignment: Row[Any]) -> list[StoredNotice]:
    """Return the notices to the worker of an assignment, given as its row, oldest first."""
    whose = {"run": assignment.run_id, "assignment": assignment.id, "since": assignment.created_at}
    return [StoredNotice(*row) for row in connection.execute(_NOTICES, whose)]


_TO_ALL = NoticeTable.c.assignment_id.is_(None) & (NoticeTable.c.created_at >= bindparam("since"))
_NOTICES = (
    select(NoticeTable.c.id, NoticeTable.c.run_id, NoticeTable.c.assignment_id, NoticeTable.c.text)
    .where(NoticeTable.c.run_id == bindparam("run"))
    .where(or_(NoticeTable.c.assignment_id == bindparam("assignment"), _TO_ALL))
    .order_by(NoticeTable.c.id)
)


def exclude(connection: Connection, assignment: str, reason: str, at: datetime) -> AssignmentState:
    """Exclude an assignment from every analysis, for a reason; a later reason replaces an earlier one.

    Raises:
        AssignmentNotFound: There is no assignment of this id.
    """
    found = find_assignment(connection, assignment)
    include(connection, assignment)
    connection.execute(insert(ExclusionTable).values(assignment_id=assignment, reason=reason, excluded_at=at))
    return found


def include(connection: Connection, assignment: str) -> bool:
    """Include an assignment in analyses again; return whether it had been excluded."""
    taken = delete(ExclusionTable).where(ExclusionTable.c.assignment_id == assignment)
    return connection.execute(taken).rowcount > 0


def exclusions(connection: Connection, run: int) -> dict[str, str]:
    """Return the reasons of a run's exclusions, by assignment."""
    query = (
        select(ExclusionTable.c.assignment_id, ExclusionTable.c.reason)
        .join(AssignmentTable, AssignmentTable.c.id == ExclusionTable.c.assignment_id)
        .where(AssignmentTable.c.run_id == run)
    )
    return {row.assignment_id: row.reason for row in connection.execute(query)}

"""Store researchers' interventions: messages to workers, and assignments left out of the analysis."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Row, bindparam, delete, insert, or_, select, update

from server.db.sessions import write as rows
from server.db.tables import Assignment, Exclusion, StudyNotice
from server.errors import AssignmentNotFound, AssignmentOver
from server.session.records import Closed


@dataclass(frozen=True, slots=True)
class StoredNotice:
    """Words to workers of a run. `assignment`: whose they are; None: everybody's who is under way."""

    id: int
    run: int
    assignment: str | None
    text: str

    def is_for(self, run: int, assignment: str) -> bool:
        """Return whether they are for the worker of an assignment of a run."""
        return self.run == run and self.assignment in {None, assignment}


@dataclass(frozen=True, slots=True)
class AssignmentState:
    """An assignment as an action finds it."""

    assignment: str
    run: int
    status: Literal["active", "completed", "returned", "expired"]


def find_assignment(connection: Connection, assignment: str) -> AssignmentState:
    """Return an assignment, which nobody else changes until the transaction ends.

    Raises:
        AssignmentNotFound: there is none of this id.
    """
    query = select(Assignment.c.id, Assignment.c.run_id, Assignment.c.status).where(
        Assignment.c.id == assignment
    )
    found = connection.execute(query.with_for_update()).one_or_none()
    if found is None:
        raise AssignmentNotFound(f"there is no assignment `{assignment}`")
    return AssignmentState(*found)


def release(connection: Connection, assignment: str, at: datetime) -> AssignmentState:
    """Expire an assignment at a researcher's wish: its worker does not count as having dropped out.

    Raises:
        AssignmentNotFound, AssignmentOver: as `expire`.
    """
    found = expire(connection, assignment, at)
    connection.execute(update(Assignment).where(Assignment.c.id == assignment).values(released=True))
    return found


def expire(connection: Connection, assignment: str, at: datetime) -> AssignmentState:
    """End an assignment that is under way, so that its place is free; return it as it was.

    Raises:
        AssignmentNotFound: there is none of this id.
        AssignmentOver: it has ended before.
    """
    found = find_assignment(connection, assignment)
    if found.status != "active":
        raise AssignmentOver(f"assignment `{assignment}` is {found.status} already")
    rows.write(connection, [(assignment, Closed("expired", at))])
    return found


def add_notice(
    connection: Connection, run: int, assignment: str | None, text: str, at: datetime
) -> StoredNotice:
    """Store words to one worker of a run, or to all who are under way; return them."""
    values = {"run_id": run, "assignment_id": assignment, "text": text, "created_at": at}
    made = connection.execute(insert(StudyNotice).values(**values).returning(StudyNotice.c.id)).scalar_one()
    return StoredNotice(int(made), run, assignment, text)


def notices_for(connection: Connection, assignment: Row[Any]) -> list[StoredNotice]:
    """Return the words to the worker of an assignment, given as its row, oldest first."""
    whose = {"run": assignment.run_id, "assignment": assignment.id, "since": assignment.created_at}
    return [StoredNotice(*row) for row in connection.execute(_NOTICES, whose)]


_TO_ALL = StudyNotice.c.assignment_id.is_(None) & (StudyNotice.c.created_at >= bindparam("since"))
_NOTICES = (
    select(StudyNotice.c.id, StudyNotice.c.run_id, StudyNotice.c.assignment_id, StudyNotice.c.text)
    .where(StudyNotice.c.run_id == bindparam("run"))
    .where(or_(StudyNotice.c.assignment_id == bindparam("assignment"), _TO_ALL))
    .order_by(StudyNotice.c.id)
)


def exclude(connection: Connection, assignment: str, reason: str, at: datetime) -> AssignmentState:
    """Leave an assignment out of every analysis, for a reason; a later reason takes the place of an earlier.

    Raises:
        AssignmentNotFound: there is none of this id.
    """
    found = find_assignment(connection, assignment)
    include(connection, assignment)
    connection.execute(insert(Exclusion).values(assignment_id=assignment, reason=reason, excluded_at=at))
    return found


def include(connection: Connection, assignment: str) -> bool:
    """Take an assignment into analyses again; return whether it had been left out."""
    taken = delete(Exclusion).where(Exclusion.c.assignment_id == assignment)
    return connection.execute(taken).rowcount > 0


def exclusions(connection: Connection, run: int) -> dict[str, str]:
    """Return why assignments of a run are left out, by assignment."""
    query = (
        select(Exclusion.c.assignment_id, Exclusion.c.reason)
        .join(Assignment, Assignment.c.id == Exclusion.c.assignment_id)
        .where(Assignment.c.run_id == run)
    )
    return {row.assignment_id: row.reason for row in connection.execute(query)}

"""Read workers' reports of messages for researchers, and mark them as seen."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, or_, select, update

from server.db.tables import AssignmentTable, ConversationTable, MessageReportTable
from server.errors import ReportNotFound


@dataclass(frozen=True, slots=True)
class SeenReport:
    """A report that was marked as seen: its run. `is_new`: nobody had marked it before."""

    run: int
    is_new: bool


def left_with_report() -> Select[tuple[str]]:
    """Return the query for the assignments whose workers left with a report, and are paid in full."""
    of_report = select(ConversationTable.c.assignment_id).join(
        MessageReportTable, MessageReportTable.c.conversation_id == ConversationTable.c.id
    )
    return of_report.where(MessageReportTable.c.leaves)


def earned_all() -> ColumnElement[bool]:
    """Return the condition that an assignment's full pay is due: it was submitted, or left with a report."""
    return or_(AssignmentTable.c.status == "completed", AssignmentTable.c.id.in_(left_with_report()))


def count_left(connection: Connection, run_id: int) -> int:
    """Return how many people have left a run with a report."""
    query = select(func.count()).where(
        AssignmentTable.c.run_id == run_id,
        AssignmentTable.c.simulated.is_(False),
        AssignmentTable.c.id.in_(left_with_report()),
    )
    return int(connection.execute(query).scalar_one())


def unseen(connection: Connection, run_id: int) -> list[str]:
    """Return the assignments of a run's unseen reports that were not taken back, one entry per report."""
    query = (
        select(ConversationTable.c.assignment_id)
        .join(MessageReportTable, MessageReportTable.c.conversation_id == ConversationTable.c.id)
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
        .where(
            AssignmentTable.c.run_id == run_id,
            MessageReportTable.c.taken_back_at.is_(None),
            MessageReportTable.c.seen_at.is_(None),
        )
        .order_by(MessageReportTable.c.id)
    )
    return list(connection.execute(query).scalars())


def reports_of(connection: Connection, conversation: str) -> list[Any]:
    """Return the rows of a conversation's reports, oldest first, including those taken back."""
    query = (
        select(MessageReportTable)
        .where(MessageReportTable.c.conversation_id == conversation)
        .order_by(MessageReportTable.c.id)
    )
    return list(connection.execute(query))


def mark_seen(connection: Connection, assignment: str, report: int, by: str, at: datetime) -> SeenReport:
    """Mark a report of an assignment as seen; the first researcher's mark stays.

    Raises:
        ReportNotFound: The assignment has no report of this number.
    """
    query = (
        select(AssignmentTable.c.run_id)
        .join(ConversationTable, ConversationTable.c.assignment_id == AssignmentTable.c.id)
        .join(MessageReportTable, MessageReportTable.c.conversation_id == ConversationTable.c.id)
        .where(MessageReportTable.c.id == report, AssignmentTable.c.id == assignment)
    )
    run = connection.execute(query).scalar_one_or_none()
    if run is None:
        raise ReportNotFound(f"assignment `{assignment}` has no report {report} of a message")
    marked = update(MessageReportTable).where(
        MessageReportTable.c.id == report, MessageReportTable.c.seen_at.is_(None)
    )
    changed = connection.execute(marked.values(seen_at=at, seen_by=by)).rowcount
    return SeenReport(run, changed == 1)

"""Convert workers' reports of messages to database rows and back."""

from typing import Any

from sqlalchemy import Connection

from server.db.bulk import Bulk, Kind, Row
from server.db.conversation_rows import by_conversation, of_assignment
from server.db.models import MessageReport, columns
from server.session.records import MessageReported, ReportTakenBack

REPORT = columns(MessageReport)
# A line that is reported anew has its earlier report taken back: this comes before the other.
TAKEN_BACK = Bulk(
    """
    UPDATE message_report SET taken_back_at = given.at, taken_back_by = given.client_id
    FROM {rows} AS given
    WHERE message_report.conversation_id = given.conversation_id
      AND message_report.turn_index = given.turn_index AND message_report.taken_back_at IS NULL""",
    conversation_id=Kind.TEXT,
    turn_index=Kind.NUMBER,
    at=Kind.TIME,
    client_id=Kind.TEXT,
)
REPORTED = Bulk(
    """
    INSERT INTO message_report (conversation_id, turn_index, reason, note, leaves, created_at, client_id)
    SELECT given.conversation_id, given.turn_index, given.reason, given.note, given.leaves = 1,
           given.created_at, given.client_id
    FROM {rows} AS given""",
    conversation_id=Kind.TEXT,
    turn_index=Kind.NUMBER,
    reason=Kind.TEXT,
    note=Kind.TEXT,
    leaves=Kind.NUMBER,
    created_at=Kind.TIME,
    client_id=Kind.TEXT,
)


def report_rows(record: MessageReported | ReportTakenBack) -> list[tuple[Bulk, Row]]:
    """Return the row of a record, with its statement."""
    line = (record.conversation, record.index)
    match record:
        case MessageReported():
            why = (record.reason, record.note, int(record.leaves))
            return [(REPORTED, (*line, *why, record.at, record.client_id))]
        case ReportTakenBack():
            return [(TAKEN_BACK, (*line, record.at, record.client_id))]


def reports(connection: Connection, assignment_id: str) -> dict[str, list[MessageReported | ReportTakenBack]]:
    """Return what was reported of an assignment's conversations, and taken back, each in its order."""
    return {
        name: [record for row in rows for record in _records(row)]
        for name, rows in by_conversation(connection, _REPORTS, assignment_id).items()
    }


def _records(row: Any) -> list[MessageReported | ReportTakenBack]:
    line = (row.conversation_id, row.turn_index)
    reported = MessageReported(*line, row.reason, row.note, row.leaves, row.created_at, row.client_id)
    if row.taken_back_at is None:
        return [reported]
    return [reported, ReportTakenBack(*line, row.taken_back_at, row.taken_back_by)]


_REPORTS = of_assignment(MessageReport, REPORT.id)

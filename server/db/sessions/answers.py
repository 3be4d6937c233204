"""Convert answers, message reports, bot calls and writing times to rows and back."""

from collections.abc import Mapping
from dataclasses import fields
from itertools import groupby
from operator import attrgetter
from typing import Any, get_args

from sqlalchemy import Column, Connection, Select, bindparam, select

from bots import Provenance
from server.db.bulk import Bulk, Kind, RowFor, stored_time
from server.db.counts import COUNT_COST
from server.db.tables import ConversationTable, MessageReportTable, QuestionnaireTable, TableBase
from server.session.records import (
    AnswerGiven,
    CallKept,
    MessageReported,
    QuestionnaireSubmitted,
    ReportTakenBack,
    Writing,
    WritingKept,
)

_KINDS = {str: Kind.TEXT, int: Kind.NUMBER, float: Kind.REAL}
_OF_A_LINE = {"conversation_id": Kind.TEXT, "turn_index": Kind.NUMBER, "created_at": Kind.TIME}
_PROVENANCE = {f"made.{field.name}": _KINDS[get_args(field.type)[0]] for field in fields(Provenance)}
# Nothing else is known of a builtin bot's reply. A statement reads a column of a row in 0.75 µs, null or not,
# and such replies come by the hundred a second, so columns that they never fill are left out for them.
_LOCAL = {"made.model", "made.revision", "made.replica", "made.queued_ms", "made.computed_ms"}
_LOCAL_FACTS = {
    "tries": Kind.NUMBER,
    **{where: kind for where, kind in _PROVENANCE.items() if where in _LOCAL},
}
_FURTHER_FACTS = {
    "failure": Kind.TEXT,
    "output": Kind.TEXT,
    **{where: kind for where, kind in _PROVENANCE.items() if where not in _LOCAL},
}


def _insertion(facts: Mapping[str, Kind]) -> Bulk:
    """Return the statement that inserts facts of calls; `facts` are keyed by their path in a `BotCall`."""
    columns = {where.removeprefix("made."): kind for where, kind in facts.items()}
    return Bulk(
        "INSERT INTO bot_call ({columns}) SELECT {columns} FROM {rows} AS given", **_OF_A_LINE, **columns
    )


LOCAL_CALL = _insertion(_LOCAL_FACTS)
CALL = _insertion(_LOCAL_FACTS | _FURTHER_FACTS)
_local_facts, _further_facts = attrgetter(*_LOCAL_FACTS), attrgetter(*_FURTHER_FACTS)


def call_rows(record: CallKept) -> list[RowFor]:
    """Return the rows of a call, each with its statement; a call's cost is counted, too."""
    local = (record.conversation, record.index, stored_time(record.at), *_local_facts(record.call))
    further = _further_facts(record.call)
    if all(fact is None for fact in further):
        return [(LOCAL_CALL, local)]
    row = (CALL, (*local, *further))
    cost = record.call.made.cost
    return [row] if cost is None else [row, (COUNT_COST, (record.conversation, cost))]


_NUMBERS = tuple(Writing.model_fields)
WRITING = Bulk(
    "INSERT INTO writing ({columns}) SELECT {columns} FROM {rows} AS given",
    conversation_id=Kind.TEXT,
    turn_index=Kind.NUMBER,
    **dict.fromkeys(_NUMBERS, Kind.NUMBER),
)


def writing_row(record: WritingKept) -> RowFor:
    """Return the row of how a message was written, with its statement."""
    numbers = {name: getattr(record.writing, name) for name in _NUMBERS}
    return WRITING.row(conversation_id=record.conversation, turn_index=record.index, **numbers)


def of_assignment(table: type[TableBase], order: Column[Any]) -> Select[Any]:
    """Build the statement that reads rows of `table` for `by_conversation`, in `order` in each conversation.

    Call it once per table: building a statement takes longer than running it.
    """
    conversation_id = table.c.conversation_id
    return (
        select(table)
        .join(ConversationTable, ConversationTable.c.id == conversation_id)
        .where(ConversationTable.c.assignment_id == bindparam("assignment"))
        .order_by(conversation_id, order)
    )


def by_conversation(
    connection: Connection, statement: Select[Any], assignment_id: str
) -> dict[str, list[Any]]:
    """Return the rows that `statement` reads for an assignment, by the id of their conversation."""
    rows = connection.execute(statement, {"assignment": assignment_id})
    return {name: list(group) for name, group in groupby(rows, key=attrgetter("conversation_id"))}


HANDED_IN = Bulk(
    "INSERT INTO questionnaire ({columns}) SELECT {columns} FROM {rows} AS given",
    assignment_id=Kind.TEXT,
    part=Kind.TEXT,
    created_at=Kind.TIME,
    client_id=Kind.TEXT,
)
GIVEN = Bulk(
    """
    INSERT INTO answer (assignment_id, conversation_id, part, label, text, number, created_at)
    SELECT given.assignment_id, given.conversation_id, given.part, given.label, given.text,
           CAST(given.number AS float), given.created_at
    FROM {rows} AS given""",
    assignment_id=Kind.TEXT,
    conversation_id=Kind.TEXT,
    part=Kind.TEXT,
    label=Kind.TEXT,
    text=Kind.TEXT,
    number=Kind.TEXT,
    created_at=Kind.TIME,
)


def answer_row(assignment_id: str, record: AnswerGiven) -> RowFor:
    """Return the row of an answer, with its statement."""
    is_text = isinstance(record.value, str)
    return GIVEN.row(
        assignment_id=assignment_id,
        conversation_id=record.conversation,
        part=record.part,
        label=record.label,
        text=record.value if is_text else None,
        number=None if is_text else repr(float(record.value)),
        created_at=record.at,
    )


def submitted(connection: Connection, assignment_id: str) -> list[QuestionnaireSubmitted]:
    """Return the questionnaires that the worker of an assignment has submitted."""
    rows = connection.execute(_HANDED_IN, {"assignment": assignment_id})
    return [QuestionnaireSubmitted(row.part, row.created_at, row.client_id) for row in rows]


_HANDED_IN = select(QuestionnaireTable).where(QuestionnaireTable.c.assignment_id == bindparam("assignment"))


# If a line is reported again, its earlier report is taken back; that row is written first.
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


def report_row(record: MessageReported | ReportTakenBack) -> RowFor:
    """Return the row of a report, or of its taking back, with its statement."""
    match record:
        case MessageReported():
            return REPORTED.row(
                conversation_id=record.conversation,
                turn_index=record.index,
                reason=record.reason,
                note=record.note,
                leaves=int(record.leaves),
                created_at=record.at,
                client_id=record.client_id,
            )
        case ReportTakenBack():
            return TAKEN_BACK.row(
                conversation_id=record.conversation,
                turn_index=record.index,
                at=record.at,
                client_id=record.client_id,
            )


def reports(connection: Connection, assignment_id: str) -> dict[str, list[MessageReported | ReportTakenBack]]:
    """Return the reports in an assignment's conversations, and those taken back, by conversation."""
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


_REPORTS = of_assignment(MessageReportTable, MessageReportTable.c.id)

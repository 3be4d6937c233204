"""Convert answers to a study's own questions to database rows and back."""

from sqlalchemy import Connection, bindparam, select

from server.db.bulk import Bulk, Kind, Row
from server.db.models import Questionnaire, columns
from server.session.records import AnswerGiven, QuestionnaireHandedIn

QUESTIONNAIRE = columns(Questionnaire)

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


def answer_row(assignment_id: str, record: AnswerGiven) -> Row:
    """Return the row of an answer, for GIVEN."""
    value = record.value
    text, number = (value, None) if isinstance(value, str) else (None, repr(float(value)))
    return (assignment_id, record.conversation, record.part, record.label, text, number, record.at)


def handed_in(connection: Connection, assignment_id: str) -> list[QuestionnaireHandedIn]:
    """Return which questionnaires the worker of an assignment has handed in."""
    rows = connection.execute(_HANDED_IN, {"assignment": assignment_id})
    return [QuestionnaireHandedIn(row.part, row.created_at, row.client_id) for row in rows]


_HANDED_IN = select(Questionnaire).where(QUESTIONNAIRE.assignment_id == bindparam("assignment"))

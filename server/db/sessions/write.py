"""Convert records of a session to rows."""

from collections.abc import Iterable

from sqlalchemy import Connection

from server.db.bulk import Bulk, Kind, OneStatement, Row, RowFor, stored_time
from server.db.counts import (
    COUNT_BEGUN,
    COUNT_CHOSEN,
    COUNT_COST,
    COUNT_ENDED,
    COUNT_LOST,
    COUNT_PAIR_SKIPPED,
    COUNT_PAIRED,
    COUNT_PAIRS_LOST,
    COUNT_PLANNED,
    COUNT_RATED,
    COUNT_SKIPPED,
    FREE_PLACE,
)
from server.db.sessions.answers import (
    CALL,
    GIVEN,
    HANDED_IN,
    LOCAL_CALL,
    REPORTED,
    TAKEN_BACK,
    WRITING,
    answer_row,
    call_rows,
    report_row,
    writing_row,
)
from server.db.sessions.enrolments import BEGUN, ITEM, PLANNED, BegunAssignment, begun_rows, planned_rows
from server.db.sessions.quizzes import ANSWERED, ASKED, LINES, quiz_rows
from server.session.records import (
    Agreed,
    AnswerGiven,
    BotSaid,
    CallKept,
    Closed,
    ConversationChange,
    ConversationEnd,
    ConversationEnded,
    ConversationFailed,
    ConversationLeftUnrated,
    ConversationPlanned,
    ConversationRated,
    ConversationSkipped,
    FeedbackGiven,
    Incident,
    ItemEdited,
    ItemShown,
    MessageReported,
    OutputKept,
    QuestionAnswered,
    QuestionnaireSubmitted,
    QuizAnswered,
    QuizAsked,
    QuizNotAsked,
    Record,
    ReportTakenBack,
    SideChosen,
    TopicMarked,
    TurnRated,
    WorkerSaid,
    WritingKept,
)


def write(connection: Connection, records: Iterable[tuple[str, Record]]) -> None:
    """Write records, each with its assignment's id; rows are grouped by table, so many cost little more.

    Records of one assignment may depend on each other only in the order of `IN_ORDER`.

    Raises:
        IntegrityError: A record exists already, or belongs to nothing.
    """
    _write(connection, by_statement(records))


def begin(
    connection: Connection, begun: BegunAssignment, conversations: Iterable[ConversationPlanned]
) -> None:
    """Write a new assignment with its conversations.

    Raises:
        IntegrityError: It exists already, or its worker has one in the run, or its slot has another holder.
    """
    planned = by_statement((begun.id, conversation) for conversation in conversations)
    _write(connection, begun_rows(begun) | planned)


def _write(connection: Connection, rows: dict[Bulk, list[Row]]) -> None:
    if connection.dialect.name == "sqlite" and len(rows) > 1:
        _AS_ONE.execute(connection.exec_driver_sql, rows)
        return
    for statement in IN_ORDER:
        if statement in rows:
            statement.execute(connection, rows[statement])


def by_statement(records: Iterable[tuple[str, Record]]) -> dict[Bulk, list[Row]]:
    """Return the rows of records, each with the id of its assignment, by the statement that writes them."""
    rows: dict[Bulk, list[Row]] = {}
    for assignment_id, record in records:
        for statement, row in _rows(assignment_id, record):
            rows.setdefault(statement, []).append(row)
    return rows


def _change(table: str, change: str, **columns: Kind) -> Bulk:
    """Return the statement that changes the rows of `table` found by the first column, their `key`."""
    return Bulk(
        f"UPDATE {table} SET {change} FROM {{rows}} AS given WHERE {table}.id = given.key",  # noqa: S608
        key=Kind.TEXT,
        **columns,
    )


def _insertion(table: str, **columns: Kind) -> Bulk:
    return Bulk(f"INSERT INTO {table} ({{columns}}) SELECT {{columns}} FROM {{rows}} AS given", **columns)  # noqa: S608


_STARTED = _change("conversation", "status = 'active', started_at = given.at", at=Kind.TIME)
_TOPIC_MARK = _insertion(
    "topic_mark",
    conversation_id=Kind.TEXT,
    ordinal=Kind.NUMBER,
    round=Kind.NUMBER,
    topic=Kind.TEXT,
    opinion=Kind.TEXT,
    how=Kind.TEXT,
    bot_opinion=Kind.TEXT,
    created_at=Kind.TIME,
    client_id=Kind.TEXT,
)
_TURN = _insertion(
    "turn",
    conversation_id=Kind.TEXT,
    turn_index=Kind.NUMBER,
    author=Kind.TEXT,
    text=Kind.TEXT,
    client_id=Kind.TEXT,
    created_at=Kind.TIME,
    show_at=Kind.TIME,
    latency_ms=Kind.NUMBER,
)
_OUTPUT = _insertion(
    "reply_output",
    conversation_id=Kind.TEXT,
    turn_index=Kind.NUMBER,
    output=Kind.TEXT,
    changes=Kind.TEXT,
)
_CHOICE = _insertion(
    "choice",
    conversation_id=Kind.TEXT,
    turn_index=Kind.NUMBER,
    preference=Kind.TEXT,
    client_id=Kind.TEXT,
    created_at=Kind.TIME,
)
_ENDED = _change(
    "conversation",
    "status = 'ended', ended_at = given.at, ended_by = given.ended_by",
    at=Kind.TIME,
    ended_by=Kind.TEXT,
)
_ITEM_SHOWN = _change(
    "conversation", "status = 'ended', started_at = given.at, ended_at = given.at", at=Kind.TIME
)
_LEFT_UNRATED = _change("conversation", "status = 'unrated'")
_FAILED = _change("conversation", "status = 'failed', ended_at = given.at", at=Kind.TIME)
_SKIPPED = _change("conversation", "status = 'skipped', ended_at = given.at", at=Kind.TIME)
_RATING = _insertion(
    "rating", conversation_id=Kind.TEXT, criterion=Kind.TEXT, value=Kind.NUMBER, created_at=Kind.TIME
)
_RATED = _change(
    "conversation",
    "status = 'rated', rated_at = given.at, rated_by = given.rated_by",
    at=Kind.TIME,
    rated_by=Kind.TEXT,
)
_TURN_RATED = _insertion(
    "turn_rating",
    conversation_id=Kind.TEXT,
    turn_index=Kind.NUMBER,
    value=Kind.NUMBER,
    created_at=Kind.TIME,
    client_id=Kind.TEXT,
)
_EDIT = Bulk(
    """
    INSERT INTO item_edit (conversation_id, text, share, created_at)
    SELECT given.conversation_id, given.text, CAST(given.share AS float), given.created_at
    FROM {rows} AS given""",
    conversation_id=Kind.TEXT,
    text=Kind.TEXT,
    share=Kind.TEXT,
    created_at=Kind.TIME,
)
_ANSWER = Bulk(
    """
    INSERT INTO tutorial_answer (assignment_id, question, answer, is_right, created_at, client_id)
    SELECT given.assignment_id, given.question, given.answer, given.is_right = 1, given.created_at,
           given.client_id
    FROM {rows} AS given""",
    assignment_id=Kind.TEXT,
    question=Kind.NUMBER,
    answer=Kind.NUMBER,
    is_right=Kind.NUMBER,
    created_at=Kind.TIME,
    client_id=Kind.TEXT,
)
_NOTE = _insertion(
    "note",
    conversation_id=Kind.TEXT,
    kind=Kind.TEXT,
    text=Kind.TEXT,
    created_at=Kind.TIME,
    failure=Kind.TEXT,
)
_AGREED = _change(
    "assignment",
    "agreed_at = given.at, agreed_by = given.agreed_by, consent_version = given.consent_version, "
    "consent_ticked = given.consent_ticked",
    at=Kind.TIME,
    agreed_by=Kind.TEXT,
    consent_version=Kind.TEXT,
    consent_ticked=Kind.TEXT,
)
_FEEDBACK = _change(
    "assignment",
    "feedback = given.feedback, feedback_by = given.feedback_by",
    feedback=Kind.TEXT,
    feedback_by=Kind.TEXT,
)
_CLOSED = _change("assignment", "status = given.status, ended_at = given.at", status=Kind.TEXT, at=Kind.TIME)
# In the order of foreign keys, and of a conversation's life.
IN_ORDER = (
    *BEGUN,
    PLANNED,
    ITEM,
    COUNT_PLANNED,
    COUNT_PAIRED,
    _STARTED,
    _TOPIC_MARK,
    _TURN,
    WRITING,
    _OUTPUT,
    LOCAL_CALL,
    CALL,
    COUNT_COST,
    _TURN_RATED,
    TAKEN_BACK,
    REPORTED,
    _CHOICE,
    COUNT_CHOSEN,
    _ENDED,
    _LEFT_UNRATED,
    _FAILED,
    _SKIPPED,
    COUNT_SKIPPED,
    COUNT_PAIR_SKIPPED,
    _RATING,
    _RATED,
    ASKED,
    LINES,
    ANSWERED,
    GIVEN,
    _EDIT,
    _ITEM_SHOWN,
    _NOTE,
    _AGREED,
    HANDED_IN,
    _ANSWER,
    _FEEDBACK,
    _CLOSED,
    COUNT_LOST,
    COUNT_PAIRS_LOST,
    FREE_PLACE,
    COUNT_BEGUN,  # this and COUNT_ENDED after the counts of plans: all transactions lock in one order
    COUNT_ENDED,
    COUNT_RATED,
)
_AS_ONE = OneStatement(IN_ORDER)


def _rows(assignment_id: str, record: Record) -> list[RowFor]:
    match record:
        case WorkerSaid() | BotSaid():  # first, because most records are lines and calls
            return [_line(record)]
        case OutputKept() | WritingKept() | CallKept() | QuizNotAsked():
            return _kept_rows(record)
        case ConversationPlanned():
            return planned_rows(assignment_id, record)
        case Agreed() | QuestionAnswered() | QuestionnaireSubmitted() | AnswerGiven() | FeedbackGiven():
            return [_assignment_row(assignment_id, record)]
        case Closed():
            return _closed_rows(assignment_id, record)
        case Incident():
            note = _NOTE.row(
                conversation_id=record.conversation,
                kind=record.kind,
                text=record.text,
                created_at=record.at,
                failure=record.failure,
            )
            return [note]
        case ItemEdited():
            share = str(record.share)
            edit = _EDIT.row(
                conversation_id=record.conversation, text=record.text, share=share, created_at=record.at
            )
            return [edit]
    return _conversation_rows(record)


def _assignment_row(
    assignment_id: str,
    record: Agreed | QuestionAnswered | QuestionnaireSubmitted | AnswerGiven | FeedbackGiven,
) -> RowFor:
    match record:
        case Agreed():
            return _AGREED.row(
                key=assignment_id,
                at=record.at,
                agreed_by=record.client_id,
                consent_version=record.consent,
                consent_ticked=",".join(record.ticked) if record.consent is not None else None,
            )
        case QuestionAnswered():
            return _ANSWER.row(
                assignment_id=assignment_id,
                question=record.question,
                answer=record.answer,
                is_right=int(record.is_right),
                created_at=record.at,
                client_id=record.client_id,
            )
        case QuestionnaireSubmitted():
            return HANDED_IN.row(
                assignment_id=assignment_id,
                part=record.part,
                created_at=record.at,
                client_id=record.client_id,
            )
        case AnswerGiven():
            return answer_row(assignment_id, record)
        case FeedbackGiven():
            return _FEEDBACK.row(key=assignment_id, feedback=record.text, feedback_by=record.client_id)


def _kept_rows(record: OutputKept | WritingKept | CallKept | QuizNotAsked) -> list[RowFor]:
    match record:
        case OutputKept():
            output = _OUTPUT.row(
                conversation_id=record.conversation,
                turn_index=record.index,
                output=record.output,
                changes=",".join(record.changes),
            )
            return [output]
        case WritingKept():
            return [writing_row(record)]
        case CallKept():
            return call_rows(record)
        case QuizNotAsked():
            return quiz_rows(record)


def _line(record: WorkerSaid | BotSaid) -> RowFor:
    at = stored_time(record.at)
    author: dict[str, object]
    if isinstance(record, WorkerSaid):
        author = {"author": "worker", "client_id": record.client_id, "show_at": at, "latency_ms": None}
    else:
        show_at = stored_time(record.show_at)
        author = {"author": "bot", "client_id": None, "show_at": show_at, "latency_ms": record.latency_ms}
    return _TURN.row(
        conversation_id=record.conversation,
        turn_index=record.index,
        text=record.text,
        created_at=at,
        **author,
    )


def _conversation_rows(record: ConversationChange) -> list[RowFor]:
    match record:
        case WorkerSaid() | BotSaid():
            return [_line(record)]
        case TurnRated():
            rated = _TURN_RATED.row(
                conversation_id=record.conversation,
                turn_index=record.index,
                value=record.value,
                created_at=record.at,
                client_id=record.client_id,
            )
            return [rated]
        case MessageReported() | ReportTakenBack():
            return [report_row(record)]
        case TopicMarked():
            return _mark_rows(record)
        case SideChosen():
            choice = _CHOICE.row(
                conversation_id=record.conversation,
                turn_index=record.turn,
                preference=record.preference,
                client_id=record.client_id,
                created_at=record.at,
            )
            return [choice, (COUNT_CHOSEN, (record.conversation, record.preference))]
        case QuizAsked() | QuizAnswered():
            return quiz_rows(record)
    return _status_rows(record)


def _status_rows(record: ConversationEnd) -> list[RowFor]:
    match record:
        case ConversationEnded():
            return [_ENDED.row(key=record.conversation, at=record.at, ended_by=record.client_id)]
        case ConversationLeftUnrated():
            return [_LEFT_UNRATED.row(key=record.conversation)]
        case ItemShown():
            return [_ITEM_SHOWN.row(key=record.conversation, at=record.at)]
        case ConversationRated():
            return _rating_rows(record)
        case ConversationFailed():
            return [_FAILED.row(key=record.conversation, at=record.at)]
        case ConversationSkipped():
            skipped = _SKIPPED.row(key=record.conversation, at=record.at)
            key = (record.conversation,)
            return [skipped, (COUNT_SKIPPED, key), (COUNT_PAIR_SKIPPED, key)]


def _closed_rows(assignment_id: str, record: Closed) -> list[RowFor]:
    closed = [
        _CLOSED.row(key=assignment_id, status=record.status, at=record.at),
        (COUNT_ENDED, (assignment_id, record.status)),
    ]
    key = (assignment_id,)
    if record.status == "completed":
        return [*closed, (COUNT_RATED, key)]
    return [*closed, (COUNT_LOST, key), (COUNT_PAIRS_LOST, key), (FREE_PLACE, key)]


def _mark_rows(record: TopicMarked) -> list[RowFor]:
    mark = _TOPIC_MARK.row(
        conversation_id=record.conversation,
        ordinal=record.ordinal,
        round=record.round,
        topic=record.topic,
        opinion=record.opinion.value,
        how=record.how.value if record.how else None,
        bot_opinion=record.bot_opinion.value if record.bot_opinion else None,
        created_at=record.at,
        client_id=record.client_id,
    )
    begins = record.ordinal == 0
    return [mark, *([_STARTED.row(key=record.conversation, at=record.at)] if begins else ())]


def _rating_rows(record: ConversationRated) -> list[RowFor]:
    ratings = [
        _RATING.row(conversation_id=record.conversation, criterion=label, value=value, created_at=record.at)
        for label, value in record.ratings
    ]
    return [*ratings, _RATED.row(key=record.conversation, at=record.at, rated_by=record.client_id)]

"""Records of a session as rows of the database, there and back."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, select

from server.db.answer_rows import GIVEN, HANDED_IN, answer_row, handed_in
from server.db.bulk import Bulk, Kind, Row
from server.db.call_rows import CALL, LOCAL_CALL, call_rows
from server.db.models import (
    Assignment,
    Choice,
    Conversation,
    Item,
    Rating,
    ShownItem,
    System,
    TopicMark,
    Turn,
    TurnRating,
    TutorialAnswer,
    columns,
)
from server.db.pair_counts import COUNT_CHOSEN, COUNT_PAIR_SKIPPED, COUNT_PAIRED, COUNT_PAIRS_LOST
from server.db.plan_counts import COUNT_LOST, COUNT_PLANNED, COUNT_SKIPPED, FREE_PLACE
from server.db.quiz_rows import ANSWERED, ASKED, LINES, quiz_rows, quizzes
from server.db.report_rows import REPORTED, TAKEN_BACK, report_rows, reports
from server.db.run_counts import COUNT_ENDED, COUNT_RATED
from server.db.spending import COUNT_COST
from server.db.writing_rows import WRITING, writing_row
from server.session.instrument import Opinion, TopicChangeKind
from server.session.item import ItemContent
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
    PlannedItem,
    QuestionAnswered,
    QuestionnaireHandedIn,
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

ASSIGNMENT = columns(Assignment)
CHOICE = columns(Choice)
CONVERSATION = columns(Conversation)
ITEM = columns(Item)
RATING = columns(Rating)
SHOWN_ITEM = columns(ShownItem)
SYSTEM = columns(System)
TOPIC_MARK = columns(TopicMark)
TURN = columns(Turn)
TURN_RATING = columns(TurnRating)
TUTORIAL_ANSWER = columns(TutorialAnswer)

PERSONA_SEPARATOR = "\n"


def write(connection: Connection, records: Iterable[tuple[str, Record]]) -> None:
    """Write records, each with the id of its assignment: rows by table, so that many cost little more.

    Records of one assignment may depend on each other only as `_IN_ORDER` is ordered.

    Raises:
        IntegrityError: a record is there already, or belongs to nothing.
    """
    rows: dict[Bulk, list[Row]] = {}
    for assignment_id, record in records:
        for statement, row in _rows(assignment_id, record):
            rows.setdefault(statement, []).append(row)
    for statement in _IN_ORDER:
        if statement in rows:
            statement.execute(connection, rows[statement])


def read(connection: Connection, assignment_id: str) -> list[Record]:
    """Return every record of an assignment that bears on its state.

    `fold` takes them in this order: a conversation is planned before anything of it; then its topics, its
    turns, what is thought and reported of them, its choices, its end, its quiz; the assignment's own end
    comes last. It is not the order in which they were written.
    """
    conversations = connection.execute(
        select(
            Conversation,
            SYSTEM.name,
            ITEM.name.label("item"),
            ITEM.content,
            SHOWN_ITEM.kind,
            SHOWN_ITEM.twin_of,
        )
        .join(System, SYSTEM.id == CONVERSATION.system_id)
        .outerjoin(ShownItem, SHOWN_ITEM.conversation_id == CONVERSATION.id)
        .outerjoin(Item, ITEM.id == SHOWN_ITEM.item_id)
        .where(CONVERSATION.assignment_id == assignment_id)
        .order_by(CONVERSATION.position, CONVERSATION.attempt)
    ).all()
    ids = [row.id for row in conversations]
    marks = _by_conversation(connection, TopicMark, ids, TOPIC_MARK.ordinal)
    turns = _by_conversation(connection, Turn, ids, TURN.turn_index)
    choices = _by_conversation(connection, Choice, ids, CHOICE.turn_index)
    reported = reports(connection, ids)
    turn_ratings = _by_conversation(connection, TurnRating, ids, TURN_RATING.id)
    ratings = _by_conversation(connection, Rating, ids, RATING.criterion)
    asked = quizzes(connection, ids)
    assignment = connection.execute(select(Assignment).where(ASSIGNMENT.id == assignment_id)).one()
    records: list[Record] = [_planned(row) for row in conversations]
    if assignment.agreed_at is not None:
        ticked = tuple(assignment.consent_ticked.split(",")) if assignment.consent_ticked else ()
        consent = assignment.consent_version
        records.append(Agreed(assignment.agreed_at, assignment.agreed_by, consent, ticked))
        records += handed_in(connection, assignment_id)
        records += _answers(connection, assignment_id)
    for row in conversations:
        records += [_mark(mark) for mark in marks.get(row.id, ())]
        records += [_turn(turn) for turn in turns.get(row.id, ())]
        records += [
            TurnRated(row.id, rated.turn_index, rated.value, rated.created_at, rated.client_id)
            for rated in turn_ratings.get(row.id, ())
        ]
        records += reported.get(row.id, ())
        records += [_choice(choice) for choice in choices.get(row.id, ())]
        records += _ending(row, ratings.get(row.id, ()))
        records += asked.get(row.id, ())
    if assignment.feedback is not None:
        records.append(FeedbackGiven(assignment.feedback, assignment.ended_at, assignment.feedback_by))
    if assignment.status != "active":
        records.append(Closed(assignment.status, assignment.ended_at))
    return records


# ---- writing ---------------------------------------------------------------------------------


def _change(table: str, change: str, **columns: Kind) -> Bulk:
    """Return the change of the rows of `table` that are found by the first column, their `key`."""
    return Bulk(
        f"UPDATE {table} SET {change} FROM {{rows}} AS given WHERE {table}.id = given.key",  # noqa: S608
        key=Kind.TEXT,
        **columns,
    )


def _insertion(table: str, **columns: Kind) -> Bulk:
    return Bulk(f"INSERT INTO {table} ({{columns}}) SELECT {{columns}} FROM {{rows}} AS given", **columns)  # noqa: S608


_PLANNED = Bulk(
    """
    INSERT INTO conversation (id, assignment_id, position, attempt, seed, persona, icebreaker, scenario,
                              side, system_id, status)
    SELECT given.id, given.assignment_id, given.position, given.attempt, given.seed, given.persona,
           given.icebreaker, given.scenario, given.side, system.id, 'planned'
    FROM {rows} AS given
    LEFT JOIN assignment ON assignment.id = given.assignment_id
    LEFT JOIN run ON run.id = assignment.run_id
    LEFT JOIN system ON system.study_id = run.study_id AND system.name = given.system""",
    id=Kind.TEXT,
    assignment_id=Kind.TEXT,
    position=Kind.NUMBER,
    attempt=Kind.NUMBER,
    system=Kind.TEXT,
    seed=Kind.NUMBER,
    persona=Kind.TEXT,
    icebreaker=Kind.TEXT,
    scenario=Kind.TEXT,
    side=Kind.TEXT,
)
_ITEM = Bulk(
    """
    INSERT INTO shown_item (conversation_id, item_id, kind, twin_of)
    SELECT given.conversation_id, item.id, given.kind, given.twin_of
    FROM {rows} AS given
    LEFT JOIN conversation ON conversation.id = given.conversation_id
    LEFT JOIN assignment ON assignment.id = conversation.assignment_id
    LEFT JOIN item
           ON item.run_id = assignment.run_id AND item.name = given.item AND item.form = given.form""",
    conversation_id=Kind.TEXT,
    item=Kind.TEXT,
    form=Kind.TEXT,
    kind=Kind.TEXT,
    twin_of=Kind.NUMBER,
)
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
# As rows belong to each other, and as a conversation goes its way.
_IN_ORDER = (
    _PLANNED,
    _ITEM,
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
    COUNT_ENDED,
    COUNT_RATED,
)


def _rows(assignment_id: str, record: Record) -> list[tuple[Bulk, Row]]:
    match record:
        case ConversationPlanned():
            return _planned_rows(assignment_id, record)
        case Agreed():
            ticked = ",".join(record.ticked) if record.consent is not None else None
            return [(_AGREED, (assignment_id, record.at, record.client_id, record.consent, ticked))]
        case QuestionAnswered():
            answer = (record.question, record.answer, int(record.is_right), record.at, record.client_id)
            return [(_ANSWER, (assignment_id, *answer))]
        case QuestionnaireHandedIn():
            return [(HANDED_IN, (assignment_id, record.part, record.at, record.client_id))]
        case AnswerGiven():
            return [(GIVEN, answer_row(assignment_id, record))]
        case FeedbackGiven():
            return [(_FEEDBACK, (assignment_id, record.text, record.client_id))]
        case Closed():
            return _closed_rows(assignment_id, record)
        case Incident():
            return [(_NOTE, (record.conversation, record.kind, record.text, record.at, record.failure))]
        case ItemEdited():
            return [(_EDIT, (record.conversation, record.text, str(record.share), record.at))]
        case OutputKept() | WritingKept() | CallKept() | QuizNotAsked():
            return _kept_rows(record)
    return _conversation_rows(record)


def _kept_rows(record: OutputKept | WritingKept | CallKept | QuizNotAsked) -> list[tuple[Bulk, Row]]:
    match record:
        case OutputKept():
            return [(_OUTPUT, (record.conversation, record.index, record.output, ",".join(record.changes)))]
        case WritingKept():
            return [(WRITING, writing_row(record))]
        case CallKept():
            return call_rows(record)
        case QuizNotAsked():
            return quiz_rows(record)


def _conversation_rows(record: ConversationChange) -> list[tuple[Bulk, Row]]:
    match record:
        case WorkerSaid():
            line: Row = (
                record.conversation,
                record.index,
                "worker",
                record.text,
                record.client_id,
                record.at,
            )
            return [(_TURN, (*line, record.at, None))]
        case BotSaid():
            line = (record.conversation, record.index, "bot", record.text, None, record.at)
            return [(_TURN, (*line, record.show_at, record.latency_ms))]
        case TurnRated():
            rated = (record.conversation, record.index, record.value, record.at, record.client_id)
            return [(_TURN_RATED, rated)]
        case MessageReported() | ReportTakenBack():
            return report_rows(record)
        case TopicMarked():
            return _mark_rows(record)
        case SideChosen():
            choice = (record.conversation, record.turn, record.preference, record.client_id, record.at)
            return [(_CHOICE, choice), (COUNT_CHOSEN, (record.conversation, record.preference))]
        case QuizAsked() | QuizAnswered():
            return quiz_rows(record)
    return _status_rows(record)


def _status_rows(record: ConversationEnd) -> list[tuple[Bulk, Row]]:
    match record:
        case ConversationEnded():
            return [(_ENDED, (record.conversation, record.at, record.client_id))]
        case ConversationLeftUnrated():
            return [(_LEFT_UNRATED, (record.conversation,))]
        case ItemShown():
            return [(_ITEM_SHOWN, (record.conversation, record.at))]
        case ConversationRated():
            return _rating_rows(record)
        case ConversationFailed():
            return [(_FAILED, (record.conversation, record.at))]
        case ConversationSkipped():
            skipped = (_SKIPPED, (record.conversation, record.at))
            key = (record.conversation,)
            return [skipped, (COUNT_SKIPPED, key), (COUNT_PAIR_SKIPPED, key)]


def _closed_rows(assignment_id: str, record: Closed) -> list[tuple[Bulk, Row]]:
    closed: list[tuple[Bulk, Row]] = [
        (_CLOSED, (assignment_id, record.status, record.at)),
        (COUNT_ENDED, (assignment_id, record.status)),
    ]
    if record.status == "completed":
        return [*closed, (COUNT_RATED, (assignment_id,))]
    key = (assignment_id,)
    return [*closed, (COUNT_LOST, key), (COUNT_PAIRS_LOST, key), (FREE_PLACE, key)]


def _planned_rows(assignment_id: str, record: ConversationPlanned) -> list[tuple[Bulk, Row]]:
    planned = [(_PLANNED, _planned_row(assignment_id, record)), (COUNT_PLANNED, (record.conversation,))]
    if record.side == "right":
        planned.append((COUNT_PAIRED, (record.conversation,)))
    item = record.item
    if item is None:
        return planned
    form = "ordinary" if item.kind == "repeat" else item.kind  # shown once more, as it was
    return [*planned, (_ITEM, (record.conversation, item.item, form, item.kind, item.twin_of))]


def _planned_row(assignment_id: str, record: ConversationPlanned) -> Row:
    return (
        record.conversation,
        assignment_id,
        record.position,
        record.attempt,
        record.system,
        record.seed,
        PERSONA_SEPARATOR.join(record.persona),
        record.icebreaker,
        record.scenario,
        record.side,
    )


def _mark_rows(record: TopicMarked) -> list[tuple[Bulk, Row]]:
    mark = (
        record.conversation,
        record.ordinal,
        record.round,
        record.topic,
        record.opinion.value,
        record.how.value if record.how else None,
        record.bot_opinion.value if record.bot_opinion else None,
        record.at,
        record.client_id,
    )
    started = [(_STARTED, (record.conversation, record.at))]
    return [(_TOPIC_MARK, mark), *(started if record.ordinal == 0 else ())]


def _rating_rows(record: ConversationRated) -> list[tuple[Bulk, Row]]:
    ratings = [(_RATING, (record.conversation, label, value, record.at)) for label, value in record.ratings]
    return [*ratings, (_RATED, (record.conversation, record.at, record.client_id))]


# ---- reading ---------------------------------------------------------------------------------


def _by_conversation(
    connection: Connection, table: Any, ids: Sequence[str], order: Any
) -> dict[str, list[Any]]:
    rows = connection.execute(
        select(table).where(table.conversation_id.in_(ids)).order_by(table.conversation_id, order)
    )
    return {name: list(group) for name, group in groupby(rows, key=attrgetter("conversation_id"))}


def _planned(row: Any) -> ConversationPlanned:
    persona = tuple(row.persona.split(PERSONA_SEPARATOR)) if row.persona else ()
    item = (
        None
        if row.item is None
        else PlannedItem(row.item, row.kind, row.twin_of, ItemContent.model_validate_json(row.content))
    )
    return ConversationPlanned(
        row.id,
        row.position,
        row.attempt,
        row.name,
        row.seed,
        persona,
        row.icebreaker,
        item,
        row.scenario,
        row.side,
    )


def _answers(connection: Connection, assignment_id: str) -> list[QuestionAnswered]:
    query = (
        select(TutorialAnswer)
        .where(TUTORIAL_ANSWER.assignment_id == assignment_id)
        .order_by(TUTORIAL_ANSWER.id)
    )
    return [
        QuestionAnswered(row.question, row.answer, row.is_right, row.created_at, row.client_id)
        for row in connection.execute(query)
    ]


def _mark(row: Any) -> TopicMarked:
    return TopicMarked(
        row.conversation_id,
        row.ordinal,
        row.round,
        row.topic,
        Opinion(row.opinion),
        TopicChangeKind(row.how) if row.how else None,
        Opinion(row.bot_opinion) if row.bot_opinion else None,
        row.created_at,
        row.client_id,
    )


def _turn(row: Any) -> WorkerSaid | BotSaid:
    if row.author == "worker":
        return WorkerSaid(row.conversation_id, row.turn_index, row.text, row.created_at, row.client_id)
    return BotSaid(row.conversation_id, row.turn_index, row.text, row.created_at, row.show_at, row.latency_ms)


def _choice(row: Any) -> SideChosen:
    return SideChosen(row.conversation_id, row.turn_index, row.preference, row.created_at, row.client_id)


def _ending(row: Any, ratings: Sequence[Any]) -> list[Record]:
    if row.status == "failed":
        return [ConversationFailed(row.id, row.ended_at)]
    if row.status == "skipped":
        return [ConversationSkipped(row.id, row.ended_at)]
    records: list[Record] = []
    if row.status in {"ended", "rated", "unrated"}:
        ended = ConversationEnded(row.id, row.ended_at, row.ended_by)
        records.append(ended if row.item is None else ItemShown(row.id, row.started_at))
    if row.status == "unrated":
        records.append(ConversationLeftUnrated(row.id))
    if row.status == "rated":
        values = tuple((rating.criterion, rating.value) for rating in ratings)
        records.append(ConversationRated(row.id, values, row.rated_at, row.rated_by))
    return records

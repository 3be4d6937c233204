"""Records of a session as rows of the database, there and back."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, Executable, bindparam, insert, select, update

from server.db.models import Assignment, Conversation, Note, Rating, Run, System, TopicMark, Turn, columns
from server.db.plan_counts import COUNT_LOST, COUNT_PLANNED, COUNT_SKIPPED, FREE_PLACE
from server.session.instrument import Opinion, TopicChangeKind
from server.session.records import (
    Agreed,
    BotSaid,
    Closed,
    ConversationEnded,
    ConversationFailed,
    ConversationPlanned,
    ConversationRated,
    ConversationSkipped,
    FeedbackGiven,
    Incident,
    Record,
    TopicMarked,
    WorkerSaid,
)

ASSIGNMENT = columns(Assignment)
CONVERSATION = columns(Conversation)
RATING = columns(Rating)
RUN = columns(Run)
SYSTEM = columns(System)
TOPIC_MARK = columns(TopicMark)
TURN = columns(Turn)

PERSONA_SEPARATOR = "\n"


def write(connection: Connection, records: Iterable[tuple[str, Record]]) -> None:
    """Write records, each with the id of its assignment: rows by table, so that many cost little more.

    Records of one assignment may depend on each other only as `_PREPARED` is ordered.

    Raises:
        IntegrityError: a record is there already, or belongs to nothing.
    """
    rows: dict[str, list[_Row]] = {}
    for assignment_id, record in records:
        for name, row in _rows(assignment_id, record):
            rows.setdefault(name, []).append(row)
    for name, statement in _PREPARED.items():
        if name in rows:
            connection.execute(statement, rows[name])


def read(connection: Connection, assignment_id: str) -> list[Record]:
    """Return every record of an assignment that bears on its state.

    `fold` takes them in this order: a conversation is planned before anything of it; then its topics, its
    turns, its end; the assignment's own end comes last. It is not the order in which they were written.
    """
    conversations = connection.execute(
        select(Conversation, SYSTEM.name)
        .join(System, SYSTEM.id == CONVERSATION.system_id)
        .where(CONVERSATION.assignment_id == assignment_id)
        .order_by(CONVERSATION.position, CONVERSATION.attempt)
    ).all()
    ids = [row.id for row in conversations]
    marks = _by_conversation(connection, TopicMark, ids, TOPIC_MARK.ordinal)
    turns = _by_conversation(connection, Turn, ids, TURN.turn_index)
    ratings = _by_conversation(connection, Rating, ids, RATING.criterion)
    assignment = connection.execute(select(Assignment).where(ASSIGNMENT.id == assignment_id)).one()
    records: list[Record] = [_planned(row) for row in conversations]
    if assignment.agreed_at is not None:
        records.append(Agreed(assignment.agreed_at, assignment.agreed_by))
    for row in conversations:
        records += [_mark(mark) for mark in marks.get(row.id, ())]
        records += [_turn(turn) for turn in turns.get(row.id, ())]
        records += _ending(row, ratings.get(row.id, ()))
    if assignment.feedback is not None:
        records.append(FeedbackGiven(assignment.feedback, assignment.ended_at, assignment.feedback_by))
    if assignment.status != "active":
        records.append(Closed(assignment.status, assignment.ended_at))
    return records


# ---- writing ---------------------------------------------------------------------------------

_Row = dict[str, Any]


def _change(table: Any, key: Any, **fixed: str) -> Executable:
    """Return the change of one row, found by `key`; the columns that a call gives are set, and `fixed`."""
    return update(table).where(key == bindparam("key")).values(**fixed)


_SYSTEM_ID = (
    select(SYSTEM.id)
    .join(Run, RUN.study_id == SYSTEM.study_id)
    .join(Assignment, ASSIGNMENT.run_id == RUN.id)
    .where(ASSIGNMENT.id == bindparam("of"), SYSTEM.name == bindparam("system"))
    .scalar_subquery()
)
# In the order in which rows belong to each other, and a conversation goes its way.
_PREPARED: dict[str, Executable] = {
    "planned": insert(Conversation).values(system_id=_SYSTEM_ID, status="planned"),
    "planned, counted": COUNT_PLANNED,
    "started": _change(Conversation, CONVERSATION.id, status="active"),
    "topic mark": insert(TopicMark),
    "turn": insert(Turn),
    "ended": _change(Conversation, CONVERSATION.id, status="ended"),
    "failed": _change(Conversation, CONVERSATION.id, status="failed"),
    "skipped": _change(Conversation, CONVERSATION.id, status="skipped"),
    "skipped, counted": COUNT_SKIPPED,
    "rating": insert(Rating),
    "rated": _change(Conversation, CONVERSATION.id, status="rated"),
    "note": insert(Note),
    "agreed": _change(Assignment, ASSIGNMENT.id),
    "feedback": _change(Assignment, ASSIGNMENT.id),
    "closed": _change(Assignment, ASSIGNMENT.id),
    "place lost": COUNT_LOST,
    "place free": FREE_PLACE,
}


def _rows(assignment_id: str, record: Record) -> list[tuple[str, _Row]]:
    match record:
        case WorkerSaid() | BotSaid():
            return [("turn", _turn_row(record))]
        case TopicMarked():
            return _mark_rows(record)
        case ConversationPlanned():
            counted = ("planned, counted", {"key": record.conversation})
            return [("planned", _planned_row(assignment_id, record)), counted]
        case ConversationEnded():
            ended = {"key": record.conversation, "ended_at": record.at, "ended_by": record.client_id}
            return [("ended", ended)]
        case ConversationRated():
            return _rating_rows(record)
        case ConversationFailed():
            return [("failed", {"key": record.conversation, "ended_at": record.at})]
        case ConversationSkipped():
            skipped = {"key": record.conversation, "ended_at": record.at}
            return [("skipped", skipped), ("skipped, counted", {"key": record.conversation})]
        case Incident():
            return [("note", _note_row(record))]
        case Agreed():
            agreed = {"key": assignment_id, "agreed_at": record.at, "agreed_by": record.client_id}
            return [("agreed", agreed)]
        case FeedbackGiven():
            given = {"key": assignment_id, "feedback": record.text, "feedback_by": record.client_id}
            return [("feedback", given)]
        case Closed():
            return _closed_rows(assignment_id, record)


def _closed_rows(assignment_id: str, record: Closed) -> list[tuple[str, _Row]]:
    key: _Row = {"key": assignment_id}
    closed = ("closed", {**key, "status": record.status, "ended_at": record.at})
    return [closed] if record.status == "completed" else [closed, ("place lost", key), ("place free", key)]


def _planned_row(assignment_id: str, record: ConversationPlanned) -> _Row:
    return {
        "id": record.conversation,
        "assignment_id": assignment_id,
        "of": assignment_id,
        "system": record.system,
        "position": record.position,
        "attempt": record.attempt,
        "seed": record.seed,
        "persona": PERSONA_SEPARATOR.join(record.persona),
        "icebreaker": record.icebreaker,
    }


def _mark_rows(record: TopicMarked) -> list[tuple[str, _Row]]:
    mark = {
        "conversation_id": record.conversation,
        "ordinal": record.ordinal,
        "round": record.round,
        "topic": record.topic,
        "opinion": record.opinion.value,
        "how": record.how.value if record.how else None,
        "bot_opinion": record.bot_opinion.value if record.bot_opinion else None,
        "client_id": record.client_id,
        "created_at": record.at,
    }
    started = [("started", {"key": record.conversation, "started_at": record.at})]
    return [("topic mark", mark), *(started if record.ordinal == 0 else ())]


def _turn_row(record: WorkerSaid | BotSaid) -> _Row:
    by_bot = isinstance(record, BotSaid)
    return {
        "conversation_id": record.conversation,
        "turn_index": record.index,
        "author": "bot" if by_bot else "worker",
        "text": record.text,
        "client_id": None if isinstance(record, BotSaid) else record.client_id,
        "created_at": record.at,
        "show_at": record.show_at if isinstance(record, BotSaid) else record.at,
        "latency_ms": record.latency_ms if isinstance(record, BotSaid) else None,
    }


def _rating_rows(record: ConversationRated) -> list[tuple[str, _Row]]:
    ratings = [
        {
            "conversation_id": record.conversation,
            "criterion": label,
            "value": value,
            "created_at": record.at,
        }
        for label, value in record.ratings
    ]
    rated = {"key": record.conversation, "rated_at": record.at, "rated_by": record.client_id}
    return [*(("rating", rating) for rating in ratings), ("rated", rated)]


def _note_row(record: Incident) -> _Row:
    return {
        "conversation_id": record.conversation,
        "kind": record.kind,
        "failure": record.failure,
        "text": record.text,
        "created_at": record.at,
    }


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
    return ConversationPlanned(row.id, row.position, row.attempt, row.name, row.seed, persona, row.icebreaker)


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


def _ending(row: Any, ratings: Sequence[Any]) -> list[Record]:
    if row.status == "failed":
        return [ConversationFailed(row.id, row.ended_at)]
    if row.status == "skipped":
        return [ConversationSkipped(row.id, row.ended_at)]
    records: list[Record] = []
    if row.status in {"ended", "rated"}:
        records.append(ConversationEnded(row.id, row.ended_at, row.ended_by))
    if row.status == "rated":
        values = tuple((rating.criterion, rating.value) for rating in ratings)
        records.append(ConversationRated(row.id, values, row.rated_at, row.rated_by))
    return records

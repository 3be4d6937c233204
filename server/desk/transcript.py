"""Everything about one assignment: who said what, which topics, which ratings, what went wrong."""

from typing import Any

from sqlalchemy import Connection, select

from server.db.models import (
    Assignment,
    Choice,
    Conversation,
    Criterion,
    Item,
    ItemEdit,
    Note,
    Rating,
    ShownItem,
    System,
    TopicMark,
    Turn,
    Worker,
    columns,
)
from server.db.rows import PERSONA_SEPARATOR
from server.desk.responses import (
    AssignmentDetail,
    ChoiceRow,
    ConversationDetail,
    RatingRow,
    ShownItemRow,
    TopicRow,
    TurnRow,
)
from server.errors import AssignmentNotFound
from server.session.item import ItemContent

ASSIGNMENT = columns(Assignment)
CHOICE = columns(Choice)
CONVERSATION = columns(Conversation)
CRITERION = columns(Criterion)
ITEM = columns(Item)
ITEM_EDIT = columns(ItemEdit)
NOTE = columns(Note)
RATING = columns(Rating)
SHOWN_ITEM = columns(ShownItem)
SYSTEM = columns(System)
TOPIC_MARK = columns(TopicMark)
TURN = columns(Turn)
WORKER = columns(Worker)


def transcript(connection: Connection, assignment_id: str) -> AssignmentDetail:
    """Return everything about one assignment. Raises AssignmentNotFound."""
    assignment = _assignment(connection, assignment_id)
    query = (
        select(Conversation, SYSTEM.name.label("system"), SYSTEM.family, SYSTEM.is_qc)
        .join(System, SYSTEM.id == CONVERSATION.system_id)
        .where(CONVERSATION.assignment_id == assignment_id)
        .order_by(CONVERSATION.position, CONVERSATION.attempt)
    )
    return AssignmentDetail(
        assignment=assignment.id,
        worker=assignment.pseudonym,
        simulated=assignment.simulated,
        status=assignment.status,
        feedback=assignment.feedback,
        conversations=[_conversation(connection, row) for row in connection.execute(query).all()],
    )


def _assignment(connection: Connection, assignment_id: str) -> Any:
    query = (
        select(Assignment, WORKER.pseudonym)
        .join(Worker, WORKER.id == ASSIGNMENT.worker_id)
        .where(ASSIGNMENT.id == assignment_id)
    )
    found = connection.execute(query).one_or_none()
    if found is None:
        raise AssignmentNotFound(f"there is no assignment `{assignment_id}`")
    return found


def _conversation(connection: Connection, row: Any) -> ConversationDetail:
    def of_this(table: Any, of: Any, order: Any) -> list[Any]:
        query = select(table).where(of.conversation_id == row.id).order_by(order)
        return list(connection.execute(query))

    ratings = (
        select(RATING.criterion, CRITERION.statement, RATING.value)
        .join(Criterion, CRITERION.label == RATING.criterion)
        .join(System, SYSTEM.study_id == CRITERION.study_id)
        .where(RATING.conversation_id == row.id, SYSTEM.id == row.system_id)
        .order_by(CRITERION.position)
    )
    return ConversationDetail(
        position=row.position,
        attempt=row.attempt,
        system=row.system,
        family=row.family,
        is_qc=row.is_qc,
        status=row.status,
        persona=row.persona.split(PERSONA_SEPARATOR) if row.persona else [],
        item=_item(connection, row.id),
        topic_marks=[
            TopicRow.model_validate(mark, from_attributes=True)
            for mark in of_this(TopicMark, TOPIC_MARK, TOPIC_MARK.ordinal)
        ],
        turns=[
            TurnRow.model_validate(turn, from_attributes=True)
            for turn in of_this(Turn, TURN, TURN.turn_index)
        ],
        ratings=[RatingRow(**row) for row in connection.execute(ratings).mappings()],
        incidents=[f"{note.kind}: {note.text}" for note in of_this(Note, NOTE, NOTE.id)],
        side=row.side,
        choices=[
            ChoiceRow.model_validate(choice, from_attributes=True)
            for choice in of_this(Choice, CHOICE, CHOICE.turn_index)
        ],
    )


def _item(connection: Connection, conversation_id: str) -> ShownItemRow | None:
    """Return what was read at a position of an assignment; None where it was a chat."""
    query = (
        select(SHOWN_ITEM.kind, SHOWN_ITEM.twin_of, ITEM.content, ITEM_EDIT.text)
        .join(Item, ITEM.id == SHOWN_ITEM.item_id)
        .outerjoin(ItemEdit, ITEM_EDIT.conversation_id == SHOWN_ITEM.conversation_id)
        .where(SHOWN_ITEM.conversation_id == conversation_id)
    )
    found = connection.execute(query).one_or_none()
    if found is None:
        return None
    content = ItemContent.model_validate_json(found.content)
    return ShownItemRow(kind=found.kind, twin_of=found.twin_of, content=content, edited_text=found.text)

"""Read the records of a session back from its rows."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from server.db.sessions.answers import by_conversation, of_assignment, reports, submitted
from server.db.sessions.quizzes import quizzes
from server.db.tables import (
    PERSONA_SEPARATOR,
    AssignmentTable,
    ChoiceTable,
    ConversationTable,
    ItemTable,
    RatingTable,
    ShownItemTable,
    SystemTable,
    TopicMarkTable,
    TurnRatingTable,
    TurnTable,
    TutorialAnswerTable,
)
from server.session.instrument import Opinion, TopicChangeKind
from server.session.item import ItemContent
from server.session.records import (
    Agreed,
    BotSaid,
    Closed,
    ConversationEnded,
    ConversationFailed,
    ConversationLeftUnrated,
    ConversationPlanned,
    ConversationRated,
    ConversationSkipped,
    FeedbackGiven,
    ItemShown,
    PlannedItem,
    QuestionAnswered,
    Record,
    SideChosen,
    TopicMarked,
    TurnRated,
    WorkerSaid,
)


def assignment_row(connection: Connection, assignment_id: str) -> Row[Any]:
    """Return the row of an assignment. Raises NoResultFound."""
    return connection.execute(_ASSIGNMENT, {"assignment": assignment_id}).one()


def read(connection: Connection, assignment: Row[Any]) -> list[Record]:
    """Return every record of an assignment, given as its row, that affects its state.

    Before a worker agrees there is only their plan, so for a newcomer one statement runs.

    The order is that of `fold`, not the order in which records were written: a conversation is planned before
    anything else of it. Then come its topics, turns, turn ratings and reports, choices, end and quiz. The
    assignment's own end comes last.
    """
    conversations = connection.execute(_CONVERSATIONS, {"assignment": assignment.id}).all()
    records: list[Record] = [_planned(row) for row in conversations]
    if assignment.agreed_at is not None:
        records += _since_agreed(connection, assignment, conversations)
    if assignment.feedback is not None:
        records.append(FeedbackGiven(assignment.feedback, assignment.ended_at, assignment.feedback_by))
    if assignment.status != "active":
        records.append(Closed(assignment.status, assignment.ended_at))
    return records


def _since_agreed(connection: Connection, assignment: Row[Any], conversations: Sequence[Any]) -> list[Record]:
    """Return the records of a worker's consent, their answers, and their conversations."""
    ticked = tuple(assignment.consent_ticked.split(",")) if assignment.consent_ticked else ()
    records: list[Record] = [
        Agreed(assignment.agreed_at, assignment.agreed_by, assignment.consent_version, ticked),
        *submitted(connection, assignment.id),
        *_answers(connection, assignment.id),
    ]
    marks, turns, turn_ratings, choices, ratings = (
        by_conversation(connection, statement, assignment.id)
        for statement in (_MARKS, _TURNS, _TURN_RATINGS, _CHOICES, _RATINGS)
    )
    reported, asked = reports(connection, assignment.id), quizzes(connection, assignment.id)
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
    return records


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
    return [
        QuestionAnswered(row.question, row.answer, row.is_right, row.created_at, row.client_id)
        for row in connection.execute(_TUTORIAL_ANSWERS, {"assignment": assignment_id})
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


# ---- statements, built once: building them anew takes longer than running them ------------------

_ASSIGNMENT = select(AssignmentTable).where(AssignmentTable.c.id == bindparam("assignment"))
_CONVERSATIONS = (
    select(
        ConversationTable,
        SystemTable.c.name,
        ItemTable.c.name.label("item"),
        ItemTable.c.content,
        ShownItemTable.c.kind,
        ShownItemTable.c.twin_of,
    )
    .join(SystemTable, SystemTable.c.id == ConversationTable.c.system_id)
    .outerjoin(ShownItemTable, ShownItemTable.c.conversation_id == ConversationTable.c.id)
    .outerjoin(ItemTable, ItemTable.c.id == ShownItemTable.c.item_id)
    .where(ConversationTable.c.assignment_id == bindparam("assignment"))
    .order_by(ConversationTable.c.position, ConversationTable.c.attempt)
)
_TUTORIAL_ANSWERS = (
    select(TutorialAnswerTable)
    .where(TutorialAnswerTable.c.assignment_id == bindparam("assignment"))
    .order_by(TutorialAnswerTable.c.id)
)
_MARKS = of_assignment(TopicMarkTable, TopicMarkTable.c.ordinal)
_TURNS = of_assignment(TurnTable, TurnTable.c.turn_index)
_TURN_RATINGS = of_assignment(TurnRatingTable, TurnRatingTable.c.id)
_CHOICES = of_assignment(ChoiceTable, ChoiceTable.c.turn_index)
_RATINGS = of_assignment(RatingTable, RatingTable.c.criterion)

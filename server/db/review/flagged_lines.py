"""Find lines flagged by the moderation service for researchers, and mark them as seen."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, and_, exists, or_, select, update

from server.db.tables import (
    REMOVED,
    AssignmentTable,
    ConversationTable,
    HumanConversationTable,
    ModeratedLineTable,
    TurnTable,
)
from server.errors import FlagNotFound

_is_its_turn = and_(
    TurnTable.c.conversation_id == ModeratedLineTable.c.conversation_id,
    TurnTable.c.turn_index == ModeratedLineTable.c.turn_index,
)


@dataclass(frozen=True, slots=True)
class FlaggedLine:
    """A flagged line: its assignment and its author."""

    assignment: str
    author: str


@dataclass(frozen=True, slots=True)
class SeenFlag:
    """A flagged line that was marked as seen: its run. `is_new`: nobody had marked it before."""

    run: int
    is_new: bool


def unseen_flags(connection: Connection, run_id: int) -> list[FlaggedLine]:
    """Return a run's flagged lines that nobody has seen, in the order in which they were judged.

    Copies are left out. A message to two chatbots side by side is stored in both conversations, and counts in
    the left one. A message to another worker is stored on both sides, and counts on its writer's.
    """
    of_other_worker = exists().where(
        HumanConversationTable.c.conversation_id == TurnTable.c.conversation_id,
        HumanConversationTable.c.partner_id.is_not(None),
        or_(
            HumanConversationTable.c.taken_over_from.is_(None),
            TurnTable.c.turn_index < HumanConversationTable.c.taken_over_from,
        ),
    )
    is_copy = or_(
        and_(TurnTable.c.author == "worker", ConversationTable.c.side.is_not_distinct_from("right")),
        and_(TurnTable.c.author == "bot", of_other_worker),
    )
    query = (
        select(ConversationTable.c.assignment_id, TurnTable.c.author)
        .select_from(ModeratedLineTable)
        .join(TurnTable, _is_its_turn)
        .join(ConversationTable, ConversationTable.c.id == ModeratedLineTable.c.conversation_id)
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
        .where(
            AssignmentTable.c.run_id == run_id,
            ModeratedLineTable.c.flagged.is_(True),
            ModeratedLineTable.c.seen_at.is_(None),
        )
        .where(~is_copy, TurnTable.c.text != REMOVED)
        .order_by(
            ModeratedLineTable.c.judged_at,
            ModeratedLineTable.c.conversation_id,
            ModeratedLineTable.c.turn_index,
        )
    )
    return [FlaggedLine(*row) for row in connection.execute(query)]


def mark_flag_seen(
    connection: Connection, assignment: str, position: int, attempt: int, line: int, by: str, at: datetime
) -> SeenFlag:
    """Mark a flagged line as seen; the first researcher's mark stays. A pair's copies are marked together.

    Args:
        connection: A transaction.
        assignment: The line's assignment.
        position: The position of its conversation.
        attempt: The attempt at that position.
        line: The line's number, from 0.
        by: The researcher's name.
        at: The time now.

    Raises:
        FlagNotFound: No line of this number is flagged there.
    """
    query = (
        select(AssignmentTable.c.run_id, TurnTable.c.conversation_id, TurnTable.c.client_id)
        .select_from(ModeratedLineTable)
        .join(TurnTable, _is_its_turn)
        .join(ConversationTable, ConversationTable.c.id == TurnTable.c.conversation_id)
        .join(AssignmentTable, AssignmentTable.c.id == ConversationTable.c.assignment_id)
        .where(AssignmentTable.c.id == assignment, ConversationTable.c.position == position)
        .where(
            ConversationTable.c.attempt == attempt,
            TurnTable.c.turn_index == line,
            ModeratedLineTable.c.flagged.is_(True),
        )
    )
    found = connection.execute(query).one_or_none()
    if found is None:
        where = f"attempt {attempt} at conversation {position} of assignment `{assignment}`"
        raise FlagNotFound(f"no line {line} is flagged in {where}")
    same = (
        select(TurnTable.c.conversation_id)
        .join(ConversationTable, ConversationTable.c.id == TurnTable.c.conversation_id)
        .where(ConversationTable.c.assignment_id == assignment, TurnTable.c.client_id == found.client_id)
    )
    marked = update(ModeratedLineTable).where(
        or_(
            ModeratedLineTable.c.conversation_id == found.conversation_id,
            ModeratedLineTable.c.conversation_id.in_(same),
        ),
        ModeratedLineTable.c.turn_index == line,
        ModeratedLineTable.c.flagged.is_(True),
        ModeratedLineTable.c.seen_at.is_(None),
    )
    return SeenFlag(found.run_id, connection.execute(marked.values(seen_at=at, seen_by=by)).rowcount > 0)
